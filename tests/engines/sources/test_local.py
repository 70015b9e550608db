"""Local folders: only files below the operator's root can be read."""

import os
from pathlib import Path

import pytest

from app.engines.sources.model import HostErrorKind, ObjectMissing, SourceObject
from app.engines.sources.registry import TYPES
from tests.engines.sources.conftest import Open, OpenHost
from tests.engines.sources.reading import (
    browse,
    expect_error,
    expect_missing,
    get_versions,
    list_documents,
    list_paths,
    read,
)


@pytest.fixture
def root(tmp_path: Path) -> Path:
    root = tmp_path / "root"
    (root / "inbox" / "2029").mkdir(parents=True)
    (root / "inbox" / "b.txt").write_bytes(b"letter b")
    (root / "inbox" / "2029" / "a.txt").write_bytes(b"letter a")
    (root / "other.txt").write_bytes(b"another folder")
    (tmp_path / "secret.txt").write_bytes(b"outside")
    return root


@pytest.fixture
def open_source(root: Path, open_host: OpenHost) -> Open:
    return lambda path="inbox": open_host(TYPES["local"], {"path": path}, root)


def test_documents_are_listed_and_read(open_source: Open) -> None:
    source = open_source()
    objects = list_documents(source)
    assert [(item.path, item.size) for item in objects] == [("2029/a.txt", 8), ("b.txt", 8)]
    assert all(item.modified_at is not None for item in objects)
    assert list_paths(source, "2029/a.txt") == ["b.txt"]
    assert read(source, "2029/a.txt") == b"letter a"


def test_the_whole_root_may_be_connected(open_source: Open) -> None:
    assert list_paths(open_source("")) == ["inbox/2029/a.txt", "inbox/b.txt", "other.txt"]


def test_a_folder_is_browsed_level_by_level(open_source: Open) -> None:
    source = open_source()
    assert browse(source) == [("2029", True), ("b.txt", False)]
    assert browse(source, "2029") == [("2029/a.txt", False)]
    assert browse(source, limit=1) == [("2029", True)]
    with expect_error(HostErrorKind.NOT_FOUND):
        source.browse("2030", 10)


def test_without_a_released_folder_nothing_opens(open_host: OpenHost) -> None:
    with expect_error(HostErrorKind.NOT_ALLOWED):
        open_host(TYPES["local"], {"path": ""})


@pytest.mark.parametrize(
    ("path", "kind"),
    [
        ("..", HostErrorKind.NOT_ALLOWED),
        ("inbox/../../", HostErrorKind.NOT_ALLOWED),
        ("out", HostErrorKind.NOT_ALLOWED),
        ("missing", HostErrorKind.NOT_FOUND),
        ("other.txt", HostErrorKind.NOT_FOUND),
        ("a\x00b", HostErrorKind.NOT_FOUND),
        ("a\ud800b", HostErrorKind.NOT_FOUND),
        ("x" * 5000, HostErrorKind.NOT_FOUND),
    ],
)
def test_folders_elsewhere_do_not_open(
    open_source: Open, root: Path, path: str, kind: HostErrorKind
) -> None:
    (root / "out").symlink_to("..")
    with expect_error(kind):
        open_source(path)


def test_links_are_judged_by_where_they_lead(open_source: Open, root: Path) -> None:
    inbox = root / "inbox"
    (inbox / "inside.txt").symlink_to("2029/a.txt")
    (inbox / "beside.txt").symlink_to("../other.txt")
    (inbox / "outside.txt").symlink_to("../../secret.txt")
    (inbox / "absolute.txt").symlink_to(root.parent / "secret.txt")
    (inbox / "dangling.txt").symlink_to("nothing")
    (inbox / "loop").symlink_to("loop")
    (inbox / "folder").symlink_to(".")
    (inbox / "parent").symlink_to("..")
    source = open_source()
    assert list_paths(source) == ["2029/a.txt", "b.txt", "inside.txt"]
    assert read(source, "inside.txt") == b"letter a"
    hidden = ("beside", "outside", "absolute", "dangling")
    paths = [f"{name}.txt" for name in hidden] + ["loop", "folder/b.txt", "parent/other.txt"]
    for path in paths:
        expect_missing(source, path)


@pytest.mark.parametrize(
    "path",
    ["../other.txt", "%2E%2E/other.txt", "..%2Fother.txt", "/etc/passwd", "", "2029", "b.txt/x"],
)
def test_paths_do_not_leave_the_folder(open_source: Open, path: str) -> None:
    expect_missing(open_source(), path)


def test_a_folder_that_becomes_a_link_is_not_entered(open_source: Open, root: Path) -> None:
    source = open_source()
    (root / "secrets").mkdir()
    (root / "secrets" / "a.txt").write_bytes(b"not connected")
    listing = source.list_objects()
    assert next(item.path for item in listing if isinstance(item, SourceObject)) == "2029/a.txt"
    (root / "inbox" / "2029").rename(root / "inbox" / "2028")
    (root / "inbox" / "2029").symlink_to("../secrets")
    expect_missing(source, "2029/a.txt")


def test_pipes_and_sockets_are_no_documents(open_source: Open, root: Path) -> None:
    os.mkfifo(root / "inbox" / "pipe")
    source = open_source()
    assert "pipe" not in list_paths(source)
    expect_missing(source, "pipe")


def test_hostile_names_are_listed_and_read(open_source: Open, root: Path) -> None:
    names = [b"a\nb", b"\xff\xfe.txt", "\u202etxt.exe".encode(), b"%2E%2E", b"\\..\\x", b"n" * 255]
    folder = os.fsencode(root / "inbox" / "2029")
    for name in names:
        Path(os.fsdecode(folder + b"/" + name)).write_bytes(name)
    source = open_source()
    paths = [path for path in list_paths(source) if path not in ("2029/a.txt", "b.txt")]
    assert sorted(read(source, path) for path in paths) == sorted(names)
    assert all(path.isprintable() for path in paths)


def test_a_change_has_another_version(open_source: Open, root: Path) -> None:
    source = open_source()
    path = root / "inbox" / "b.txt"
    before, times = get_versions(source), path.stat()
    path.write_bytes(b"LETTER B")
    os.utime(path, ns=(times.st_atime_ns, times.st_mtime_ns))
    after = get_versions(source)
    assert before["b.txt"] != after["b.txt"]
    assert before["2029/a.txt"] == after["2029/a.txt"]
    assert read(source, "b.txt") == b"LETTER B"


@pytest.mark.parametrize("change", [b"longer than before", b"x"])
def test_a_change_while_reading_is_no_complete_document(
    open_source: Open, root: Path, change: bytes
) -> None:
    path = root / "inbox" / "b.txt"
    with open_source().open("b.txt") as chunks:
        assert next(chunks) == b"letter b"
        path.write_bytes(change)
        with pytest.raises(ObjectMissing):
            list(chunks)


def test_large_documents_come_in_chunks(open_source: Open, root: Path) -> None:
    content = os.urandom(3 * 1024 * 1024 + 1)
    (root / "inbox" / "large.bin").write_bytes(content)
    assert read(open_source(), "large.bin") == content
