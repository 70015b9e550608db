"""Define the records of import files, and the base class of readers."""

import json
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping
from typing import Any, BinaryIO, NamedTuple, TypeAlias

import orjson

from app.engines.imports.marks import Mark

UNPROCESSABLE = "unprocessable"
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

    `mark_lists` contains one list of marks for each time that the document was labeled.
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

    `size` is the size of the record in bytes; `next` is the position after the record.
    """

    number: int
    content: RecordContent | None
    error: tuple[str, str] | None
    size: int
    next: Position


ParseResult: TypeAlias = tuple[RecordContent | None, tuple[str, str] | None]
"""The content of a record, or the code and the message of its error. One of the two is None."""


def parse_object(data: bytes, convert: Converter) -> ParseResult:
    """Parse a record that is a JSON object.

    Returns the error of an invalid record instead of raising an exception.
    """
    try:
        orjson.loads(data)
        _name_checker.decode(data.decode())
        # Parsed again, because keeping the first value during the check would take much memory: a
        # value may take thirty times the memory of its text.
        return _convert_object(orjson.loads(data), convert), None
    except orjson.JSONDecodeError as failure:
        return None, (UNPROCESSABLE, f"Malformed JSON: {failure}")
    except ContentError as failure:
        return None, (UNPROCESSABLE, str(failure))
    except RecursionError:
        return None, (UNPROCESSABLE, "The record is nested too deeply.")


def _convert_object(value: object, convert: Converter) -> RecordContent:
    if not isinstance(value, dict):
        raise ContentError("The record must be a JSON object.")
    return convert(value)


def _check_names(members: list[tuple[str, Any]]) -> None:
    """Raise ContentError if two members of an object have the same name.

    orjson keeps only the last such member, so the others would be lost.
    """
    names: set[str] = set()
    for name, _ in members:
        if name in names:
            raise ContentError(f"`{name[:_MAX_SHOWN_CHARS]}`: Appears more than once.")
        names.add(name)


_name_checker = json.JSONDecoder(object_pairs_hook=_check_names, parse_int=str, parse_float=str)


class Entry(NamedTuple):
    """A record before it is parsed: its data, its size in bytes, and the offset `end` after it."""

    data: Any
    size: int
    end: int


class Reader(ABC):
    """Reads the import files of one format."""

    def read(self, file: BinaryIO, start: Position) -> Iterator[Record]:
        """Yield the records of a file from `start`.

        Raises ImportFileError if the file as a whole cannot be imported.
        """
        for number, entry in enumerate(self._scan(file, start.offset), start.number):
            content, error = self._parse(entry.data)
            yield Record(number, content, error, entry.size, Position(entry.end, number + 1))

    def count(self, file: BinaryIO) -> int:
        """Return the number of records in a file.

        Raises ImportFileError if the file as a whole cannot be imported.
        """
        return sum(1 for _ in self._scan(file, START.offset))

    @abstractmethod
    def _scan(self, file: BinaryIO, offset: int) -> Iterator[Entry]:
        """Find the records from `offset`, which is the start of the file or the end of a record."""

    @abstractmethod
    def _parse(self, data: Any) -> ParseResult:
        """Parse the data of a record, and return its content or its error."""


def build_properties(
    text: str, external_id: str | None, metadata: Mapping[str, Any]
) -> dict[str, Any]:
    """Build the properties of a document.

    Of `metadata`, only non-empty strings, numbers and Boolean values are kept.
    """
    plain_metadata = {
        name: value
        for name, value in metadata.items()
        if isinstance(value, (str, bool, int, float)) and value != ""
    }
    return {"text": text, "external_id": external_id, "metadata": plain_metadata}


def read_id(value: object) -> str | None:
    """Read the id of a record as a string.

    Returns None if `value` is neither an integer nor a non-empty string.
    """
    if isinstance(value, str) and value:
        return value
    return str(value) if type(value) is int else None
