import contextlib
import hashlib
import os
import stat
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path

import pytest

from app.kit.storage import InvalidKey, Storage, blob_key

CONTENT = bytes(range(256)) * 5000
SHA256 = hashlib.sha256(CONTENT).hexdigest()


@pytest.fixture
def disk(tmp_path: Path) -> Storage:
    return Storage(f"file://{tmp_path}/files")


def keys(storage: Storage) -> list[str]:
    return sorted(entry.key for entry in storage.list())


def open_files(folder: Path) -> int:
    """This process's open files under `folder`: other threads open and close theirs meanwhile."""
    found = 0
    for descriptor in Path("/proc/self/fd").iterdir():
        with contextlib.suppress(OSError):
            found += descriptor.readlink().is_relative_to(folder)
    return found


def test_streams_refuse_positions_from_the_end(disk: Storage) -> None:
    disk.write("a", [b"abc"])
    for start, end, chunk in ((-1, None, 1), (0, -1, 1), (0, None, 0)):
        with pytest.raises(ValueError, match="start of the file"):
            disk.stream("a", start, end, chunk=chunk)


def test_a_stream_left_early_gives_its_file_back(disk: Storage, tmp_path: Path) -> None:
    disk.write("a", [CONTENT])
    stream = disk.stream("a", chunk=10)
    assert next(stream) == CONTENT[:10]
    assert open_files(tmp_path) == 1
    stream.close()
    assert open_files(tmp_path) == 0
    assert list(stream) == []


def test_local_files_of_a_disk_are_not_copied(disk: Storage, tmp_path: Path) -> None:
    disk.write("a/b", [b"x"])
    with disk.local("a/b") as path:
        assert path == tmp_path / "files" / "a" / "b"


@pytest.mark.parametrize(
    "key",
    [
        *["", "/", "/etc/passwd", "../x", "a/../b", "a/./b", "a//b", "a/", "a\x00b", "a\\b"],
        *["a/.b", "ä", "\ud800", "a b", "a\n", "x" * 201, "a/" * 600 + "a", "~root", "a?b", "a*"],
        *[".hidden", "a/b/..", "C:/x"],
    ],
)
def test_odd_keys_are_refused_everywhere(disk: Storage, key: str) -> None:
    operations: list[Callable[[str], object]] = [
        disk.open, disk.stream, disk.size, disk.exists, disk.delete, disk.local,
    ]  # fmt: skip
    for operation in operations:
        with pytest.raises(InvalidKey):
            operation(key)
    with pytest.raises(InvalidKey):
        disk.write(key, [b"x"])
    with disk.stage() as staged, pytest.raises(InvalidKey):
        staged.promote(key)
    assert keys(disk) == []


@pytest.mark.parametrize("prefix", ["..", "/etc", "a/../..", "\x00"])
def test_odd_prefixes_are_refused(disk: Storage, prefix: str) -> None:
    with pytest.raises(InvalidKey):
        list(disk.list(prefix))
    with pytest.raises(InvalidKey):
        disk.sweep(prefix, timedelta(0))


def test_blob_keys_are_by_organization_and_digest() -> None:
    assert blob_key("0190-org", SHA256) == f"organizations/0190-org/blobs/{SHA256[:2]}/{SHA256}"
    for organization, digest in (
        ("a/b", SHA256),
        ("..", SHA256),
        ("a", "x"),
        ("a", SHA256.upper()),
    ):
        with pytest.raises(InvalidKey):
            blob_key(organization, digest)


def test_files_on_disk_are_for_the_owner_only(disk: Storage, tmp_path: Path) -> None:
    before = os.umask(0)
    try:
        disk.write("a/b/c", [b"x"])
    finally:
        os.umask(before)
    root = tmp_path / "files"
    modes = {path: stat.S_IMODE(path.stat().st_mode) for path in [root, *root.rglob("*")]}
    assert {mode for path, mode in modes.items() if path.is_dir()} == {0o700}
    assert {mode for path, mode in modes.items() if path.is_file()} == {0o600}


def test_content_is_on_the_disk_before_its_name(
    disk: Storage, monkeypatch: pytest.MonkeyPatch
) -> None:
    disk.write("a/first", [b"x"])
    happened: list[str] = []
    fsync, replace = os.fsync, Path.replace

    def note_fsync(descriptor: int) -> None:
        happened.append("folder" if stat.S_ISDIR(os.fstat(descriptor).st_mode) else "content")
        fsync(descriptor)

    def note_replace(source: Path, target: Path) -> Path:
        happened.append("name")
        return replace(source, target)

    monkeypatch.setattr(os, "fsync", note_fsync)
    monkeypatch.setattr(Path, "replace", note_replace)
    disk.write("a/second", [b"x"])
    assert happened == ["content", "name", "folder"]


def test_a_reader_keeps_the_content_it_opened(disk: Storage) -> None:
    disk.write("a", [b"before"])
    with disk.open("a") as file:
        disk.write("a", [b"after"])
        assert file.read() == b"before"


def test_files_of_others_are_not_listed_nor_swept(disk: Storage, tmp_path: Path) -> None:
    disk.write("staging/ours", [b"x"])
    (tmp_path / "files" / "staging" / ".nfs 0001").write_bytes(b"x")
    assert keys(disk) == ["staging/ours"]
    assert disk.sweep("staging", timedelta(seconds=-5)) == 1


def test_a_relative_folder_is_refused() -> None:
    with pytest.raises(ValueError, match="absolute"):
        Storage("file://files")
