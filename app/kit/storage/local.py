"""Storage backend for a local disk.

Only the user that runs the service can read the files. They are synced to the disk on commit.
"""

import ctypes
import os
import secrets
import stat
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO

from app.kit.storage.keys import STAGING, NotStored
from app.kit.storage.space import translate_disk_errors

_BUFFER_BYTES = 256 * 1024
_LIBC = ctypes.CDLL(None, use_errno=True)
_NOT_FOUND_ERRORS = (FileNotFoundError, NotADirectoryError, IsADirectoryError)


class LocalWriter:
    """A file that is being written. It must not be read before `commit`."""

    def __init__(self, path: Path) -> None:
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC
        with translate_disk_errors():
            _make_folder(path.parent)
            self._file = os.fdopen(os.open(path, flags, 0o600), "wb", buffering=_BUFFER_BYTES)
        self._path = path

    def write(self, data: bytes) -> None:
        with translate_disk_errors():
            self._file.write(data)

    def commit(self) -> None:
        # Without fsync, a power failure can leave an empty file under the new name.
        with translate_disk_errors():
            self._file.flush()
            os.fsync(self._file.fileno())
            self._file.close()

    def abort(self) -> None:
        try:
            self._file.close()
        finally:
            self._path.unlink(missing_ok=True)


class LocalFiles:
    """The backend for `file://` URLs."""

    def __init__(self, root: Path) -> None:
        self._root = root

    def create(self, key: str) -> LocalWriter:
        return LocalWriter(self._root / key)

    def create_many(self, contents: Mapping[str, bytes]) -> None:
        """Write files by key.

        The whole file system is synced twice, instead of each file and folder separately.
        """
        folder = self._root / STAGING
        token = secrets.token_hex(16)
        staged_paths = [f"{folder}/{token}-{index}" for index in range(len(contents))]
        try:
            with translate_disk_errors():
                _make_unsynced_folder(folder)
                for path, data in zip(staged_paths, contents.values(), strict=True):
                    _write_file(path, data)
                _sync_file_system(folder)
                for path, key in zip(staged_paths, contents, strict=True):
                    _replace(path, f"{self._root}/{key}")
                _sync_file_system(folder)
        except BaseException:
            for path in staged_paths:
                Path(path).unlink(missing_ok=True)
            raise

    def move(self, source: str, target: str) -> None:
        path, staged_path = self._root / target, self._root / source
        with translate_disk_errors():
            while True:
                _make_folder(path.parent)
                try:
                    staged_path.replace(path)
                    break
                except FileNotFoundError:
                    # Either the source does not exist, or `prune` has deleted the empty folder.
                    if not staged_path.exists():
                        raise NotStored(source) from None
            _sync_folder(path.parent)

    def open(self, key: str) -> BinaryIO:
        try:
            return (self._root / key).open("rb")
        except _NOT_FOUND_ERRORS:
            raise NotStored(key) from None

    def sign_link(self, key: str, *, name: str, media_type: str, seconds: int) -> str | None:
        """Return None, because only this service can send files from a local disk."""
        del key, name, media_type, seconds
        return None

    def get_size(self, key: str) -> int:
        try:
            status = (self._root / key).stat()
        except _NOT_FOUND_ERRORS:
            raise NotStored(key) from None
        if not stat.S_ISREG(status.st_mode):
            raise NotStored(key)
        return status.st_size

    def remove(self, key: str) -> None:
        try:
            (self._root / key).unlink()
        except _NOT_FOUND_ERRORS:
            return

    def remove_many(self, keys: Sequence[str]) -> None:
        for key in keys:
            self.remove(key)

    def prune(self, folder: str) -> None:
        """Delete a folder and its subfolders, bottom-up, except those that are not empty."""
        for parent, _, _ in os.walk(self._root / folder, topdown=False):
            with suppress(OSError):
                Path(parent).rmdir()

    @contextmanager
    def use_local_path(self, key: str) -> Iterator[Path]:
        self.get_size(key)
        yield self._root / key

    def walk(self, folder: str) -> Iterator[tuple[str, int, float]]:
        for parent, _, names in os.walk(self._root / folder):
            for name in names:
                path = Path(parent, name)
                try:
                    status = path.stat()
                except FileNotFoundError:  # deleted since the folder was read
                    continue
                yield path.relative_to(self._root).as_posix(), status.st_size, status.st_mtime

    def list_folders(self, folder: str) -> Sequence[str]:
        try:
            with os.scandir(self._root / folder) as entries:
                return [entry.name for entry in entries if entry.is_dir()]
        except _NOT_FOUND_ERRORS:
            return []


def _write_file(path: str, data: bytes) -> None:
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC
    descriptor = os.open(path, flags, 0o600)
    try:
        remaining = memoryview(data)
        while remaining:
            remaining = remaining[os.write(descriptor, remaining) :]
    finally:
        os.close(descriptor)


def _replace(source: str, target: str) -> None:
    """Rename a file, and create missing folders. The caller must sync the file system."""
    try:
        os.replace(source, target)  # noqa: PTH105 - a path object would take as long as the call
    except FileNotFoundError:
        _make_unsynced_folder(Path(target).parent)
        os.replace(source, target)  # noqa: PTH105 - as above


def _make_unsynced_folder(folder: Path) -> None:
    if not folder.is_dir():
        _make_unsynced_folder(folder.parent)
        folder.mkdir(mode=0o700, exist_ok=True)


def _sync_file_system(folder: Path) -> None:
    """Sync the file system that contains a folder to the disk with syncfs(2).

    Python has no function for this system call.
    """
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        if _LIBC.syncfs(descriptor) != 0:
            error_number = ctypes.get_errno()
            raise OSError(error_number, os.strerror(error_number))
    finally:
        os.close(descriptor)


def _make_folder(folder: Path) -> None:
    """Create missing folders, top-down, and sync each to the disk. Only the owner can read them."""
    if folder.is_dir():
        return
    _make_folder(folder.parent)
    folder.mkdir(mode=0o700, exist_ok=True)
    _sync_folder(folder.parent)


def _sync_folder(folder: Path) -> None:
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
