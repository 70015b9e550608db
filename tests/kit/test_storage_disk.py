import contextlib
import hashlib
import os
import stat
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path

import pytest

from app.kit.storage import DiskReserve, InvalidKey, Storage, StorageFull, build_blob_key
from tests.factories.processes import run_script

CONTENT = bytes(range(256)) * 5000
SHA256 = hashlib.sha256(CONTENT).hexdigest()


@pytest.fixture
def disk(tmp_path: Path) -> Storage:
    return Storage(f"file://{tmp_path}/files")


def keys(storage: Storage, prefix: str = "") -> list[str]:
    return sorted(entry.key for entry in storage.list(prefix))


def open_files(folder: Path) -> int:
    """Count the open files of this process under `folder`. Other threads use other folders."""
    count = 0
    for descriptor in Path("/proc/self/fd").iterdir():
        with contextlib.suppress(OSError):
            count += descriptor.readlink().is_relative_to(folder)
    return count


def test_streams_refuse_positions_from_the_end(disk: Storage) -> None:
    disk.write("a", [b"abc"])
    for start, end, chunk in ((-1, None, 1), (0, -1, 1), (0, None, 0)):
        with pytest.raises(ValueError, match="must not be negative"):
            disk.stream("a", start, end, chunk_bytes=chunk)


def test_a_stream_left_early_gives_its_file_back(disk: Storage, tmp_path: Path) -> None:
    disk.write("a", [CONTENT])
    stream = disk.stream("a", chunk_bytes=10)
    assert next(stream) == CONTENT[:10]
    assert open_files(tmp_path) == 1
    stream.close()
    assert open_files(tmp_path) == 0
    assert list(stream) == []


def test_local_files_of_a_disk_are_not_copied(disk: Storage, tmp_path: Path) -> None:
    disk.write("a/b", [b"x"])
    with disk.use_local_path("a/b") as path:
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
        disk.open, disk.stream, disk.get_size, disk.exists, disk.delete, disk.use_local_path,
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
    assert (
        build_blob_key("0190-org", SHA256) == f"organizations/0190-org/blobs/{SHA256[:2]}/{SHA256}"
    )
    invalid_keys = (("a/b", SHA256), ("..", SHA256), ("a", "x"), ("a", SHA256.upper()))
    for organization, digest in invalid_keys:
        with pytest.raises(InvalidKey):
            build_blob_key(organization, digest)


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


def test_a_folder_that_is_deleted_before_the_move_is_created_again(
    disk: Storage, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    replace = Path.replace

    def delete_folder_first(source: Path, target: Path) -> Path:
        monkeypatch.setattr(Path, "replace", replace)
        target.parent.rmdir()
        return replace(source, target)

    monkeypatch.setattr(Path, "replace", delete_folder_first)
    disk.write("a/b", [b"x"])
    assert keys(disk) == ["a/b"]


def test_a_relative_folder_is_refused() -> None:
    with pytest.raises(ValueError, match="absolute"):
        Storage("file://files")


def _reserve(folder: Path) -> DiskReserve:
    return DiskReserve(1, {"data": folder / "does not exist yet" / "files"})


def test_the_free_space_of_a_folder_is_that_of_its_file_system(tmp_path: Path) -> None:
    status = os.statvfs("/dev/shm")
    reserve = DiskReserve(1, {"data": tmp_path / "a" / "b", "files": Path("/dev/shm/not/there")})
    free = reserve.get_free_bytes()
    assert 0 < free["files"] <= status.f_blocks * status.f_frsize
    assert free["data"] > 0
    assert not reserve.is_below_reserve()


def test_nothing_is_written_into_the_reserve(tmp_path: Path) -> None:
    reserve = _reserve(tmp_path)
    storage = Storage(f"file://{tmp_path}/files", reserve)
    storage.write("a", [CONTENT])
    reserve.bytes = 1 << 60
    for attempt in (storage.stage, lambda: storage.write("b", [b"x"])):
        with pytest.raises(StorageFull):
            attempt()
    assert keys(storage) == ["a"]
    assert b"".join(storage.stream("a")) == CONTENT
    storage.delete("a")
    reserve.bytes = 0
    storage.write("b", [b"x"])


def test_a_disk_that_fills_up_stops_what_is_being_written(tmp_path: Path) -> None:
    reserve = _reserve(tmp_path)
    storage = Storage(f"file://{tmp_path}/files", reserve)
    with storage.stage() as staged:
        staged.write(bytes(900_000))
        reserve.bytes = 1 << 60
        staged.write(b"so little is not looked after")
        with pytest.raises(StorageFull):
            staged.write(bytes(900_000))
    assert keys(storage) == []


ON_A_SMALL_DISK = """
import ctypes, os, resource, sys
from pathlib import Path
folder = Path(sys.argv[1])
libc = ctypes.CDLL(None, use_errno=True)
CLONE_NEWNS, CLONE_NEWUSER = 0x20000, 0x10000000
def mount():
    user, group = os.getuid(), os.getgid()
    if libc.unshare(CLONE_NEWNS):
        if libc.unshare(CLONE_NEWUSER | CLONE_NEWNS):
            return False
        Path("/proc/self/setgroups").write_text("deny")
        Path("/proc/self/uid_map").write_text(f"{user} {user} 1")
        Path("/proc/self/gid_map").write_text(f"{group} {group} 1")
    return libc.mount(b"none", os.fsencode(folder), b"tmpfs", 0, b"size=2m") == 0
# Mount a separate file system if this user may do so. Otherwise, limit the size of files. In both
# cases, the kernel refuses the write.
mounted = mount()
if not mounted:
    resource.setrlimit(resource.RLIMIT_FSIZE, (2**21, 2**21))
print("tmpfs" if mounted else "limit")

from app.kit.storage import Storage, StorageFull
storage = Storage(f"file://{folder}/files")
storage.write("kept", [bytes(1000)])
for size in (2**20, 100):
    try:
        storage.write("too-large", [bytes(size)] * (3 * 2**20 // size))
    except StorageFull as failure:
        print("full:", failure)
print(sorted(entry.key for entry in storage.list()))
print(storage.get_size("kept"))
storage.write("after", [bytes(1000)])
print(storage.get_size("after"))
"""


def test_a_full_disk_is_reported_and_nothing_is_left_behind(
    tmp_path: Path, record_property: Callable[[str, object], None]
) -> None:
    kind, first, second, *rest = run_script(ON_A_SMALL_DISK, str(tmp_path)).splitlines()
    record_property("small disk", kind)
    reasons = {"tmpfs": "full: No space left on device", "limit": "full: File too large"}
    assert first == second == reasons[kind]
    assert rest == ["['kept']", "1000", "1000"]
