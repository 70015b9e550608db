"""The interface of storage backends."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import BinaryIO, Protocol


class Writer(Protocol):
    """A file that is being written to a backend."""

    def write(self, data: bytes) -> None:
        """Append data to the file."""

    def commit(self) -> None:
        """Finish the file, so that it exists under its key."""

    def abort(self) -> None:
        """Discard the file and all data that was written."""


class Backend(Protocol):
    """The interface of a storage backend. The caller has validated all keys."""

    def create(self, key: str) -> Writer:
        """Create a file, and return a writer for its content."""

    def create_many(self, contents: Mapping[str, bytes]) -> None:
        """Write complete small files by key. After an error, some of the files may exist."""

    def move(self, source: str, target: str) -> None:
        """Move a file, replacing the target. Raises NotStored if the source does not exist."""

    def open(self, key: str) -> BinaryIO:
        """Open a file for reading. Raises NotStored if it does not exist."""

    def sign_link(self, key: str, *, name: str, media_type: str, seconds: int) -> str | None:
        """Sign a URL with which anybody can read a file for `seconds`, and return the URL.

        Returns None if the backend does not support such URLs.
        """

    def get_size(self, key: str) -> int:
        """Return a file's size in bytes. Raises NotStored if it does not exist."""

    def remove(self, key: str) -> None:
        """Delete a file. Do nothing if it does not exist."""

    def remove_many(self, keys: Sequence[str]) -> None:
        """Delete several files. Ignore files that do not exist."""

    def prune(self, folder: str) -> None:
        """Delete a folder and its subfolders if they are empty."""

    def use_local_path(self, key: str) -> AbstractContextManager[Path]:
        """Provide a local path to a file while the context is open.

        Raises NotStored if the file does not exist.
        """

    def walk(self, folder: str) -> Iterator[tuple[str, int, float]]:
        """Yield the key, size in bytes and modification time of each file in a folder.

        The modification time is in seconds since the epoch.
        """

    def list_folders(self, folder: str) -> Sequence[str]:
        """Return the names of the folders directly in a folder, in no particular order."""
