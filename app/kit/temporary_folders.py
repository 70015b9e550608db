"""Temporary folders that are deleted even if the process that uses them is killed."""

import fcntl
import mmap
import os
import re
import shutil
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

_FOLDER_NAME = re.compile(r"labeling-(copy|job)-\w{8}")
COPY_NAME = "file"
"""The name of the file in a folder with the purpose `copy` (see `create_temporary_folder`)."""
_MIN_AGE_SECONDS = 3600.0
"""The minimum age in seconds of a folder to delete. A younger folder may not be locked yet."""
SWEEP_SECONDS = 3600.0
"""The minimum time in seconds between two searches for abandoned folders."""
# The `time.monotonic()` value of the last search. Forked processes share it.
_swept_at = memoryview(mmap.mmap(-1, 8)).cast("d")


@contextmanager
def create_temporary_folder(purpose: str) -> Iterator[Path]:
    """Provide a new temporary folder in a `with` block, and delete it at the end.

    The folder is locked during the block. A killed process leaves an unlocked folder, which a later
    call on this machine deletes. `purpose` is `copy`, for a folder with one file, or `job`.
    """
    _sweep_if_due()
    with (
        tempfile.TemporaryDirectory(
            prefix=f"labeling-{purpose}-", ignore_cleanup_errors=True
        ) as folder,
        _open_folder(folder) as descriptor,
    ):
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield Path(folder)


@contextmanager
def isolate_temporary_files() -> Iterator[None]:
    """Make `tempfile` create all files of this process in a new folder, in a `with` block."""
    with create_temporary_folder("job") as folder:
        previous_folder, tempfile.tempdir = tempfile.tempdir, str(folder)
        try:
            yield
        finally:
            tempfile.tempdir = previous_folder


@contextmanager
def _open_folder(folder: str) -> Iterator[int]:
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
    try:
        yield descriptor
    finally:
        os.close(descriptor)


def _sweep_if_due() -> None:
    now = time.monotonic()
    if _swept_at[0] and now - _swept_at[0] < SWEEP_SECONDS:
        return
    _swept_at[0] = now
    parent, matches = Path(tempfile.gettempdir()), []
    with suppress(OSError), os.scandir(parent) as entries:
        matches = [match for entry in entries if (match := _FOLDER_NAME.fullmatch(entry.name))]
    for match in matches:
        # An error means that another process uses the folder, or is deleting it.
        with suppress(OSError):
            _delete_if_abandoned(str(parent / match[0]), is_job=match[1] == "job")


def _delete_if_abandoned(folder: str, *, is_job: bool) -> None:
    with _open_folder(folder) as descriptor:
        status = os.fstat(descriptor)
        is_old = status.st_mtime <= time.time() - _MIN_AGE_SECONDS
        if status.st_uid != os.geteuid() or not is_old:
            return
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        if is_job:
            shutil.rmtree(folder)
            return
        with suppress(FileNotFoundError):
            os.unlink(COPY_NAME, dir_fd=descriptor)
        Path(folder).rmdir()
