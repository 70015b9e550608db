"""Define the base class for writers that parse each tag set, and functions for JSON."""

import json
from abc import ABC, abstractmethod
from typing import Any

import orjson

from app.engines.formats.model import Row


class ParsingWriter(ABC):
    """A writer that parses the JSON of each tag set; subclasses implement `write`."""

    def __init__(self) -> None:
        self.rows = 0
        self._chunks: list[bytes] = []

    @abstractmethod
    def write(self, row: Row) -> None:
        """Add one tag set."""

    def write_json(self, line: bytes) -> None:
        """Add one tag set as JSON. Raises ValueError if it is not a JSON object."""
        self.write(parse_row(line))

    def write_chunk(self, chunk: bytes, *, is_last: bool) -> None:
        """Add a chunk of a tag set's JSON; the last chunk causes the tag set to be parsed."""
        self._chunks.append(chunk)
        if is_last:
            line, self._chunks = b"".join(self._chunks), []
            self.write_json(line)


def parse_row(line: bytes) -> dict[str, Any]:
    """Parse a tag set from JSON; an unpaired surrogate becomes a question mark.

    Raises ValueError if the JSON is invalid or is not an object.
    """
    try:
        row = orjson.loads(line)
    except orjson.JSONDecodeError:  # orjson rejects lone surrogates, which JSON allows
        row = replace_surrogates(json.loads(line))
    if not isinstance(row, dict):
        raise ValueError("a tag set must be a JSON object")  # noqa: TRY004 - a value, not a type
    return row


def replace_surrogates(value: object) -> object:
    """Replace unpaired surrogates in a JSON value, so that it can be encoded as UTF-8."""
    if isinstance(value, str):
        return value.encode("utf-8", "replace").decode()
    if isinstance(value, list):
        return [replace_surrogates(item) for item in value]
    if isinstance(value, dict):
        return {replace_surrogates(key): replace_surrogates(item) for key, item in value.items()}
    return value


def dump_json(value: object) -> str:
    """Serialize a value to compact JSON text that can be encoded as UTF-8."""
    try:
        return orjson.dumps(value).decode()
    except TypeError:  # an integer beyond 64 bits, or a lone surrogate
        return json.dumps(replace_surrogates(value), ensure_ascii=False, separators=(",", ":"))
