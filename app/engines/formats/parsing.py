"""Provide the base class of writers that parse tag sets, for formats that are not JSON."""

import json
from abc import ABC, abstractmethod
from typing import Any

import orjson

from app.engines.formats.model import Row


class ParsingWriter(ABC):
    """A writer that parses each tag set; a subclass writes the row."""

    def __init__(self) -> None:
        self.rows = 0
        self._pieces: list[bytes] = []

    @abstractmethod
    def write(self, row: Row) -> None:
        """Add one tag set."""

    def write_json(self, line: bytes) -> None:
        """Add one tag set as JSON. Raises ValueError if it is not a JSON object."""
        self.write(parse_row(line))

    def write_piece(self, piece: bytes, *, is_last: bool) -> None:
        """Add a piece of a tag set as JSON; the tag set is parsed when its last piece arrives."""
        self._pieces.append(piece)
        if is_last:
            line, self._pieces = b"".join(self._pieces), []
            self.write_json(line)


def parse_row(line: bytes) -> dict[str, Any]:
    """Parse a tag set; an unpaired surrogate becomes a question mark. Raises ValueError."""
    try:
        row = orjson.loads(line)
    except orjson.JSONDecodeError:  # it rejects lone surrogates, which JSON allows
        row = replace_surrogates(json.loads(line))
    if not isinstance(row, dict):
        raise ValueError("a tag set must be a JSON object")  # noqa: TRY004 - a value, not a type
    return row


def replace_surrogates(value: Any) -> Any:
    """Return a JSON value whose strings can be encoded as UTF-8."""
    if isinstance(value, str):
        return value.encode("utf-8", "replace").decode()
    if isinstance(value, list):
        return [replace_surrogates(item) for item in value]
    if isinstance(value, dict):
        return {replace_surrogates(key): replace_surrogates(item) for key, item in value.items()}
    return value


def dump_json(value: object) -> str:
    """Return a value as compact JSON text that can be encoded as UTF-8."""
    try:
        return orjson.dumps(value).decode()
    except TypeError:  # an integer beyond 64 bits, or a lone surrogate
        return json.dumps(replace_surrogates(value), ensure_ascii=False, separators=(",", ":"))
