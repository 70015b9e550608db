"""Read the documents of import files one by one, with memory that does not depend on the file.

A reader continues at any `Position` that an earlier record returned. A record that cannot be read
has an error instead of members, and the rest of the file is read.
"""

from app.engines.imports.archives import Archive, DamagedError, Entry
from app.engines.imports.csv_rows import CsvReader
from app.engines.imports.detection import detect_format
from app.engines.imports.json_lines import JsonLinesReader
from app.engines.imports.records import START, ImportFileError, Position, Reader, Record

READERS: dict[str, Reader] = {"csv": CsvReader(), "jsonl": JsonLinesReader()}
"""The reader of each format whose records are texts."""
FORMATS = (*READERS, "zip")
"""The ids of all formats."""

__all__ = [
    "FORMATS",
    "READERS",
    "START",
    "Archive",
    "DamagedError",
    "Entry",
    "ImportFileError",
    "Position",
    "Reader",
    "Record",
    "detect_format",
]
