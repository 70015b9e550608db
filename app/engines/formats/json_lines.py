"""Write JSON Lines: each tag set is one line with all requested parts."""

from typing import BinaryIO

from app.engines.formats.model import TAG_SET_PARTS, Format
from app.engines.formats.sample import render_sample

_CHUNK_BYTES = 1 << 18


class JsonLinesWriter:
    """A writer that copies the JSON of tag sets without parsing it.

    `prefix` is written before the first tag set, `separator` between tag sets, and `end` after
    each tag set. The fields and options, which every writer receives, are ignored.
    """

    def __init__(
        self,
        out: BinaryIO,
        *_: object,
        prefix: bytes = b"",
        separator: bytes = b"",
        end: bytes = b"\n",
    ) -> None:
        self.row_count = 0
        self._out = out
        self._buffer = bytearray(prefix)
        self._separator = separator
        self._end = end
        self._is_incomplete = False
        """True if the last chunk of the current tag set has not been added yet."""

    def write_json(self, line: bytes) -> None:
        """Add one tag set; `line` is its JSON in UTF-8, which is not parsed."""
        self.write_chunk(line, is_last=True)

    def write_chunk(self, chunk: bytes, *, is_last: bool) -> None:
        """Add a chunk of a tag set's JSON, which is not parsed."""
        if b"\n" in chunk or b"\r" in chunk:
            # JSON allows line breaks only between its tokens.
            chunk = chunk.replace(b"\r", b" ").replace(b"\n", b" ")
        buffer = self._buffer
        if self.row_count and not self._is_incomplete:
            buffer += self._separator
        buffer += chunk
        self._is_incomplete = not is_last
        if is_last:
            buffer += self._end
            self.row_count += 1
        if len(buffer) > _CHUNK_BYTES:
            self._flush()

    def close(self) -> None:
        """Write the remaining data."""
        self._flush()

    def _flush(self) -> None:
        if self._buffer:
            self._out.write(bytes(self._buffer))
            self._buffer.clear()


FORMAT = Format(
    id="jsonl",
    name="JSON Lines",
    media_type="application/x-ndjson",
    extension="jsonl",
    description=(
        "One JSON object per line, for one tag set: the document, schema version, people, dates "
        "and labels by field key. Includes tags with evidence by default, and text and history if "
        "requested."
    ),
    keeps=TAG_SET_PARTS,
    default_parts=("evidence",),
    sample=render_sample(JsonLinesWriter, {}),
    writer=JsonLinesWriter,
    keeps_removed=True,
)
