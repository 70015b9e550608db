"""The reserve of free disk space, which lets the database continue to write."""

import errno
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from app.kit.storage.keys import StorageUnavailable

_FULL_ERRNOS = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG}


class StorageFull(StorageUnavailable):
    """Less than the reserve is free, or the file system is full."""


class Reserve:
    """The number of bytes to keep free in the file systems of `folders` (by name).

    With 0 no write is ever refused. The folders need not exist yet.
    """

    def __init__(self, reserve_bytes: int, folders: Mapping[str, Path]) -> None:
        self.bytes = reserve_bytes
        self._folders = dict(folders)

    def free_bytes(self) -> dict[str, int]:
        """Return the bytes that are free for unprivileged processes, by folder name."""
        return {name: _get_free_bytes(folder) for name, folder in self._folders.items()}

    def is_used_up(self) -> bool:
        """Return whether less than the reserve is free."""
        return self.bytes > 0 and min(self.free_bytes().values()) < self.bytes

    def check(self) -> None:
        """Raise StorageFull if less than the reserve is free."""
        if self.is_used_up():
            raise StorageFull(f"less than {self.bytes} bytes are free")


def _get_free_bytes(folder: Path) -> int:
    while True:
        try:
            status = os.statvfs(folder)
        except FileNotFoundError:
            folder = folder.parent
            continue
        except OSError:  # nothing can be written there
            return 0
        return status.f_bavail * status.f_frsize


@contextmanager
def translate_disk_errors() -> Iterator[None]:
    """Convert OSError into StorageFull if the disk is full, else into StorageUnavailable."""
    try:
        yield
    except OSError as failure:
        if failure.errno in _FULL_ERRNOS:
            raise StorageFull(os.strerror(failure.errno)) from failure
        raise StorageUnavailable(f"{type(failure).__name__}: {failure.strerror}") from failure
