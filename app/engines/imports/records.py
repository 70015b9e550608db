"""Define the records of import files, and the interface of readers."""

import json
from collections.abc import Callable, Iterator
from typing import Any, BinaryIO, NamedTuple, Protocol

import orjson

from app.engines.imports.marks import Mark

UNREADABLE = "unprocessable"
"""The error code of a record that cannot be read."""
_MAX_SHOWN_CHARS = 64
TOO_LARGE = "payload_too_large"
"""The error code of a record that is larger than the limit."""


class ImportFileError(Exception):
    """The file as a whole cannot be imported; the message gives the reason."""


class Position(NamedTuple):
    """A position between two records: the byte offset, and the number of the next record."""

    offset: int
    number: int


START = Position(0, 1)
"""The start of a file. Records are numbered from 1."""


class RecordContent(NamedTuple):
    """The content of a record: the properties of a document, and labels from another tool.

    `mark_lists` contains a list of marks for each person who labeled the document.
    """

    properties: dict[str, Any]
    mark_lists: tuple[list[Mark], ...] = ()


class ContentError(ValueError):
    """The content of a record is invalid; the message gives the reason."""


Converter = Callable[[dict[str, Any]], RecordContent]
"""A function that converts a JSON object to the content of a record.

Raises ContentError if the object is not valid in the format.
"""


class Record(NamedTuple):
    """A record with either its content, or the code and the message of its error.

    `size` is the size of the record in bytes; `next` is the position after it.
    """

    number: int
    content: RecordContent | None
    error: tuple[str, str] | None
    size: int
    next: Position


def parse_object(
    data: bytes, convert: Converter
) -> tuple[RecordContent | None, tuple[str, str] | None]:
    """Parse a record that is a JSON object, and return its content and its error.

    The error is a pair of code and message. Either the content or the error is None.
    """
    try:
        orjson.loads(data)
        _name_checker.decode(data.decode())
        # Parsed again, because keeping the first value during the check would take much memory: a
        # value may take thirty times the memory of its text.
        return _convert_object(orjson.loads(data), convert), None
    except orjson.JSONDecodeError as failure:
        return None, (UNREADABLE, f"Malformed JSON: {failure}")
    except ContentError as failure:
        return None, (UNREADABLE, str(failure))
    except RecursionError:
        return None, (UNREADABLE, "The record is nested too deeply.")


def _convert_object(value: object, convert: Converter) -> RecordContent:
    if not isinstance(value, dict):
        raise ContentError("The record must be a JSON object.")
    return convert(value)


def _check_names(members: list[tuple[str, Any]]) -> None:
    """Raise ContentError if several members of an object have the same name.

    orjson keeps the last of these members, so the others would be lost.
    """
    names: set[str] = set()
    for name, _ in members:
        if name in names:
            raise ContentError(f"`{name[:_MAX_SHOWN_CHARS]}`: Appears more than once.")
        names.add(name)


_name_checker = json.JSONDecoder(object_pairs_hook=_check_names, parse_int=str, parse_float=str)


class Reader(Protocol):
    """Reads the import files of one format."""

    def read(self, file: BinaryIO, start: Position) -> Iterator[Record]:
        """Yield the records of a file from `start`.

        Raises ImportFileError if the file as a whole cannot be imported.
        """

    def count(self, file: BinaryIO) -> int:
        """Return the number of records in a file.

        Raises ImportFileError if the file as a whole cannot be imported.
        """
