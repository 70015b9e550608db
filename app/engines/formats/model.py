"""Define the interface of an export format: its description and a streaming writer."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, BinaryIO, Protocol, TypeAlias

Field: TypeAlias = Mapping[str, Any]
Row: TypeAlias = Mapping[str, Any]

KEEPS = ("values", "tables", "evidence", "confidence", "text", "history")
"""The parts of a tag set that a format may keep."""

NO_OPTIONS: Mapping[str, Any] = {
    "$schema": "https://json-schema.org/draft/2020-12/schema",
    "type": "object",
    "properties": {},
    "additionalProperties": False,
}
"""The `options_schema` of a format without options."""


class FormatError(ValueError):
    """An unknown format or invalid options; `path` is for example `options.delimiter`."""

    def __init__(self, path: str, message: str) -> None:
        super().__init__(f"{path}: {message}")
        self.path = path
        self.message = message


class Writer(Protocol):
    """A writer that writes tag sets one by one to a file, in bounded memory.

    The output is complete only after `close`, which does not close the underlying file.
    """

    rows: int
    """The number of tag sets added."""

    def write(self, row: Row) -> None:
        """Add one tag set; the package's docstring lists its members."""

    def write_json(self, line: bytes) -> None:
        """Add one tag set as UTF-8 JSON.

        Raises ValueError if the format parses it and it is invalid.
        """

    def write_piece(self, piece: bytes, *, is_last: bool) -> None:
        """Add a piece of a tag set as UTF-8 JSON; the last piece completes the tag set.

        Formats that keep the history accept pieces of any size and any total size.
        """

    def close(self) -> None:
        """Write the remaining data."""


WriterFactory: TypeAlias = Callable[[BinaryIO, Sequence[Field], Mapping[str, Any]], Writer]


@dataclass(frozen=True, slots=True)
class Format:
    """One export format.

    `options_schema` is a JSON Schema 2020-12 with a default for every option. `keeps` lists the
    members of KEEPS that the format preserves, `default_parts` those of evidence, text and history
    that it gets unless a client asks otherwise. `keeps_removed` says that it has rows for tag sets
    that were removed: with the status `removed` and without labels.

    `writer(out, fields, options)` starts a file, where `fields` is the union of the fields of all
    versions that occur (`merge_fields`) and `options` come from `check_options`.
    """

    id: str
    name: str
    media_type: str
    extension: str
    description: str
    options_schema: Mapping[str, Any]
    keeps: tuple[str, ...]
    sample: str
    writer: WriterFactory
    default_parts: tuple[str, ...] = ()
    keeps_removed: bool = False

    @property
    def is_text(self) -> bool:
        """Whether the file is UTF-8 text."""
        kind, _, name = self.media_type.partition("/")
        return kind == "text" or name.endswith(("json", "x-ndjson"))
