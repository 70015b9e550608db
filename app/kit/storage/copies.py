"""Temporary folders for local copies of stored files."""

import fcntl
import os
import re
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

_PREFIX = "labeling-copy-"
_FOLDER_NAME = re.compile(rf"{_PREFIX}\w{{8}}")
_FILE_NAME = "file"
_MIN_AGE_SECONDS = 3600.0
"""The minimum age of an abandoned folder. A younger folder may not have been locked yet."""


@contextmanager
def reserve_path() -> Iterator[Path]:
    """Provide the path of a new temporary file, which is deleted at the end of the block.

    Its folder is locked during the block. A killed process leaves an unlocked folder, which a later
    call on this machine deletes.
    """
    _delete_abandoned(Path(tempfile.gettempdir()))
    with tempfile.TemporaryDirectory(prefix=_PREFIX) as folder, _open_folder(folder) as descriptor:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield Path(folder, _FILE_NAME)


@contextmanager
def _open_folder(folder: str) -> Iterator[int]:
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
    try:
        yield descriptor
    finally:
        os.close(descriptor)


def _delete_abandoned(parent: Path) -> None:
    with suppress(OSError), os.scandir(parent) as entries:
        folders = [entry.path for entry in entries if _FOLDER_NAME.fullmatch(entry.name)]
        for folder in folders:
            # Another process uses the folder or deletes it.
            with suppress(OSError):
                _delete_if_abandoned(folder)


def _delete_if_abandoned(folder: str) -> None:
    with _open_folder(folder) as descriptor:
        status = os.fstat(descriptor)
        is_old = status.st_mtime <= time.time() - _MIN_AGE_SECONDS
        if status.st_uid != os.geteuid() or not is_old:
            return
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        with suppress(FileNotFoundError):
            os.unlink(_FILE_NAME, dir_fd=descriptor)
        Path(folder).rmdir()
