"""The interface of storage backends."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import BinaryIO, Protocol


class Writer(Protocol):
    """A file that is being written to a backend."""

    def write(self, data: bytes) -> None:
        """Append data."""

    def commit(self) -> None:
        """Finish the file, which exists from now on."""

    def abort(self) -> None:
        """Discard what was written."""


class Backend(Protocol):
    """The interface of a storage backend; it only receives valid keys."""

    def create(self, key: str) -> Writer:
        """Begin a file."""

    def create_many(self, contents: Mapping[str, bytes]) -> None:
        """Write complete small files; after an error, some of the files may exist."""

    def move(self, source: str, target: str) -> None:
        """Move a file, replacing the target."""

    def open(self, key: str) -> BinaryIO:
        """Open a file for reading."""

    def sign_link(self, key: str, *, name: str, media_type: str, seconds: int) -> str | None:
        """Return a URL at which anybody can read a file for `seconds`, or None if unsupported."""

    def size(self, key: str) -> int:
        """Return a file's size in bytes."""

    def remove(self, key: str) -> None:
        """Delete a file, if it exists."""

    def remove_many(self, keys: Sequence[str]) -> None:
        """Delete files; ignore files that do not exist."""

    def prune(self, folder: str) -> None:
        """Delete a folder and its subfolders if they are empty."""

    def local(self, key: str) -> AbstractContextManager[Path]:
        """Provide a local path to a file while the context is open."""

    def walk(self, folder: str) -> Iterator[tuple[str, int, float]]:
        """Yield key, size in bytes and modification time (Unix time) of each file in a folder."""
