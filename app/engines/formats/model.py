"""What every export format offers: a description of itself and a streaming writer."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, BinaryIO, Protocol, TypeAlias

Field: TypeAlias = Mapping[str, Any]
Row: TypeAlias = Mapping[str, Any]

KEEPS = ("values", "tables", "evidence", "confidence", "text", "history")
"""What a format may keep of a label set."""


class FormatError(ValueError):
    """An unknown format, or options that it does not take; `path` such as `options.delimiter`."""

    def __init__(self, path: str, message: str) -> None:
        super().__init__(f"{path}: {message}")
        self.path = path
        self.message = message


class Writer(Protocol):
    """Takes label sets one by one and writes the file as it goes, in bounded memory.

    Nothing is sure to be in the file before `close`, which leaves the file itself open.
    """

    rows: int
    """How many label sets were taken."""

    def write(self, row: Row) -> None:
        """Add one label set (see the package's docstring for its members)."""

    def write_json(self, line: bytes) -> None:
        """Add one label set as UTF-8 JSON. Raises ValueError where it has to be read and is not."""

    def write_piece(self, piece: bytes, *, is_last: bool) -> None:
        """Add a piece of a label set as UTF-8 JSON; the pieces up to the last one are one label
        set. Formats that keep the history take pieces as they come, of whatever size in sum."""

    def close(self) -> None:
        """Write what is left."""


WriterFactory: TypeAlias = Callable[[BinaryIO, Sequence[Field], Mapping[str, Any]], Writer]


@dataclass(frozen=True, slots=True)
class Format:
    """One export format.

    `options_schema` is JSON Schema 2020-12 with a default for every option; `keeps` lists what of
    KEEPS survives; `writer(out, fields, options)` starts a file, where `fields` is the union of
    the fields of all versions that occur (`union_fields`) and `options` come from `check_options`.
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
