"""Temporary files for local copies of stored files."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from app.kit import temporary_folders


@contextmanager
def reserve_path() -> Iterator[Path]:
    """Provide the path of a new temporary file, which is deleted at the end of the block."""
    with temporary_folders.reserve("copy") as folder:
        yield folder / temporary_folders.COPY_NAME
