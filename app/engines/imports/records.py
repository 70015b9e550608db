"""The records of import files, and the interface of readers."""

from collections.abc import Iterator
from typing import Any, BinaryIO, NamedTuple, Protocol

UNREADABLE = "unprocessable"
"""The code of a record that cannot be read."""
TOO_LARGE = "payload_too_large"
"""The code of a record that is larger than the limit."""


class ImportFileError(Exception):
    """The file as a whole cannot be imported; the message says why."""


class Position(NamedTuple):
    """A place between two records: the byte offset, and the number of the next record."""

    offset: int
    number: int


START = Position(0, 1)
"""The start of a file. Records are numbered from 1."""


class Record(NamedTuple):
    """A record: its members, or else the code and the message of the error.

    `size` is its size in bytes; `next` is the position after it.
    """

    number: int
    members: dict[str, Any] | None
    error: tuple[str, str] | None
    size: int
    next: Position


class Reader(Protocol):
    """A reader of one format."""

    def read(self, file: BinaryIO, start: Position) -> Iterator[Record]:
        """Yield the records of a file from `start`. Raises ImportFileError."""

    def count(self, file: BinaryIO) -> int:
        """Return the number of records in a file. Raises ImportFileError."""
