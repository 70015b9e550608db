"""The disk space that is kept free, so that the database can always write."""

import errno
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from app.kit.storage.keys import StorageUnavailable

_FULL_ERRNOS = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG}


class StorageFull(StorageUnavailable):
    """The free disk space is below the reserve, or the file system is full."""


class DiskReserve:
    """The number of bytes to keep free on the file systems that contain `folders`.

    `folders` maps names for metrics to paths, which need not exist yet. With 0 bytes, no write is
    ever refused.
    """

    def __init__(self, reserve_bytes: int, folders: Mapping[str, Path]) -> None:
        self.bytes = reserve_bytes
        self._folders = dict(folders)

    def get_free_bytes(self) -> dict[str, int]:
        """Return the number of bytes that are free for unprivileged processes, by folder name."""
        return {name: _get_free_bytes(folder) for name, folder in self._folders.items()}

    def is_below_reserve(self) -> bool:
        """Return whether the free space on any file system is below the reserve."""
        return self.bytes > 0 and min(self.get_free_bytes().values()) < self.bytes

    def check(self) -> None:
        """Raise StorageFull if the free space on any file system is below the reserve."""
        if self.is_below_reserve():
            raise StorageFull(f"less than {self.bytes} bytes are free")


def _get_free_bytes(folder: Path) -> int:
    while True:
        try:
            status = os.statvfs(folder)
        except FileNotFoundError:
            folder = folder.parent
            continue
        except OSError:  # nothing can be written to this folder
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
