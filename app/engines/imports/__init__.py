"""Read the documents of import files one by one. Memory use does not depend on the file size.

A reader can continue at the `Position` after any earlier record. A record that cannot be read
has an error instead of content, and reading continues with the next record.
"""

from app.engines.imports.csv_rows import CsvReader
from app.engines.imports.doccano import convert_line
from app.engines.imports.json_arrays import JsonArrayReader
from app.engines.imports.json_lines import JsonLinesReader
from app.engines.imports.label_studio import convert_task
from app.engines.imports.records import Reader

READERS: dict[str, Reader] = {
    "csv": CsvReader(),
    "doccano": JsonLinesReader(convert_line),
    "jsonl": JsonLinesReader(),
    "label_studio": JsonArrayReader(convert_task),
}
"""The readers by format, for all formats whose records contain text."""
FORMATS = (*READERS, "zip")
"""The ids of all formats."""
