"""Write JSON Lines: each tag set is one line with all requested parts."""

import json
from collections.abc import Mapping, Sequence
from typing import Any, BinaryIO

import orjson

from app.engines.formats.model import KEEPS, NO_OPTIONS, Field, Format, Row
from app.engines.formats.sample import render_sample

_CHUNK_BYTES = 1 << 18  # bytes


class JsonLinesWriter:
    """A writer that passes JSON through unchanged, with fixed texts around the tag sets."""

    def __init__(
        self, out: BinaryIO, *, head: bytes = b"", separator: bytes = b"", end: bytes = b"\n"
    ) -> None:
        self.rows = 0
        self._out = out
        self._buffer = bytearray(head)
        self._separator = separator
        self._end = end
        self._is_inside = False
        """Whether a tag set has been started, but its last piece has not been added."""

    def write(self, row: Row) -> None:
        """Add one tag set; values that JSON cannot represent (NaN) become null."""
        try:
            self.write_json(orjson.dumps(row))
        except TypeError:  # an integer beyond 64 bits, or a lone surrogate
            text = json.dumps(row)
            value = json.loads(text, parse_constant=lambda _: None)
            self.write_json(json.dumps(value, separators=(",", ":")).encode())

    def write_json(self, line: bytes) -> None:
        """Add one tag set that is already JSON; it is not parsed."""
        self.write_piece(line, is_last=True)

    def write_piece(self, piece: bytes, *, is_last: bool) -> None:
        """Add a piece of a tag set that is already JSON; it is not parsed."""
        if b"\n" in piece or b"\r" in piece:
            # JSON allows line breaks only between its tokens.
            piece = piece.replace(b"\r", b" ").replace(b"\n", b" ")
        buffer = self._buffer
        if self.rows and not self._is_inside:
            buffer += self._separator
        buffer += piece
        self._is_inside = not is_last
        if is_last:
            buffer += self._end
            self.rows += 1
        if len(buffer) > _CHUNK_BYTES:
            self._flush()

    def close(self) -> None:
        """Write the remaining data."""
        self._flush()

    def _flush(self) -> None:
        if self._buffer:
            self._out.write(bytes(self._buffer))
            self._buffer.clear()


def _create_writer(
    out: BinaryIO,
    fields: Sequence[Field],  # noqa: ARG001 - each line names its own fields
    options: Mapping[str, Any],  # noqa: ARG001 - the format has no options
) -> JsonLinesWriter:
    return JsonLinesWriter(out)


FORMAT = Format(
    id="jsonl",
    name="JSON Lines",
    media_type="application/x-ndjson",
    extension="jsonl",
    description=(
        "One line per tag set, with a JSON object: the document, schema version, people, dates and "
        "labels by key. If requested, it includes tags with evidence, text and history."
    ),
    options_schema=NO_OPTIONS,
    keeps=KEEPS,
    default_parts=("evidence",),
    sample=render_sample(_create_writer, {}),
    writer=_create_writer,
    keeps_removed=True,
)
