"""Read the documents of import files one by one. Memory use does not depend on the file size.

A reader can continue at the `Position` after any earlier record. A record that cannot be read
has an error instead of content, and reading continues with the next record.
"""

from app.engines.imports.archives import Archive, ArchiveEntry, DamagedEntryError
from app.engines.imports.csv_rows import CsvReader
from app.engines.imports.detection import detect_format
from app.engines.imports.doccano import convert_line
from app.engines.imports.encodings import open_as_utf8
from app.engines.imports.json_arrays import JsonArrayReader
from app.engines.imports.json_lines import JsonLinesReader
from app.engines.imports.label_studio import convert_task
from app.engines.imports.lines import MAX_LINE_BYTES
from app.engines.imports.marks import Mark, MarkConverter, MarkError
from app.engines.imports.records import (
    START,
    ImportFileError,
    Position,
    Reader,
    Record,
    RecordContent,
)

READERS: dict[str, Reader] = {
    "csv": CsvReader(),
    "doccano": JsonLinesReader(convert_line),
    "jsonl": JsonLinesReader(),
    "label_studio": JsonArrayReader(convert_task),
}
"""The readers by format, for all formats whose records contain text."""
FORMATS = (*READERS, "zip")
"""The ids of all formats."""

__all__ = [
    "FORMATS",
    "MAX_LINE_BYTES",
    "READERS",
    "START",
    "Archive",
    "ArchiveEntry",
    "DamagedEntryError",
    "ImportFileError",
    "Mark",
    "MarkConverter",
    "MarkError",
    "Position",
    "Reader",
    "Record",
    "RecordContent",
    "detect_format",
    "open_as_utf8",
]
