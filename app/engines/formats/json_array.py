"""Write one JSON array, with each tag set on a separate line."""

from typing import BinaryIO

from app.engines.formats.json_lines import JsonLinesWriter
from app.engines.formats.model import TAG_SET_PARTS, Format
from app.engines.formats.sample import render_sample


class JsonArrayWriter(JsonLinesWriter):
    """A writer that joins the JSON of all tag sets into one array, without parsing it."""

    def __init__(self, out: BinaryIO, *_: object) -> None:
        super().__init__(out, prefix=b"[\n", separator=b",\n", end=b"")
        self._is_closed = False

    def close(self) -> None:
        """Write the remaining data and the end of the array."""
        if not self._is_closed:
            self._buffer += b"\n]\n" if self.row_count else b"]\n"
            self._is_closed = True
        super().close()


FORMAT = Format(
    id="json",
    name="JSON",
    media_type="application/json",
    extension="json",
    description=(
        "One JSON array with an object per tag set, the same objects as in jsonl. For large "
        "exports prefer jsonl, because many programs read a whole array into memory."
    ),
    keeps=TAG_SET_PARTS,
    default_parts=("evidence",),
    sample=render_sample(JsonArrayWriter, {}),
    writer=JsonArrayWriter,
    keeps_removed=True,
)
