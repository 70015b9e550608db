"""Streams of stored files."""

from collections.abc import Iterator
from typing import BinaryIO

# One chunk stays in memory for each client that does not read its download.
CHUNK_BYTES = 64 * 1024


class FileStream(Iterator[bytes]):
    """An iterator over the chunks of a stored file. It closes the file at the end."""

    def __init__(self, file: BinaryIO, remaining: int | None, chunk: int) -> None:
        self._file = file
        self._remaining = remaining
        self._chunk = chunk

    def __next__(self) -> bytes:
        count = self._chunk if self._remaining is None else min(self._chunk, self._remaining)
        data = self._file.read(count) if not self._file.closed else b""
        if not data:
            self.close()
            raise StopIteration
        if self._remaining is not None:
            self._remaining -= len(data)
        return data

    def close(self) -> None:
        """Close the file. Call this if the iteration stops before the end of the file."""
        self._file.close()
