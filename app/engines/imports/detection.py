"""Detect the format of an import file from its content and its name."""

import io

import orjson

from app.engines.imports.csv_rows import DELIMITERS, TEXT_COLUMN, find_delimiter_line
from app.engines.imports.doccano import LABEL_PROPERTIES
from app.engines.imports.encodings import open_as_utf8

_CSV_EXTENSIONS = (".csv", ".tsv")
_ZIP_SIGNATURES = (b"PK\x03\x04", b"PK\x05\x06")
_DOCUMENT_EXTENSIONS = (".docx", ".xlsx", ".pptx", ".odt", ".ods", ".odp", ".epub", ".jar")
"""The extensions of documents whose files are ZIP archives."""


def detect_format(head: bytes, name: str) -> str | None:
    """Return the id of the format of an import file, or None if the format is not recognized.

    `head` contains the first line of the file, or the start of a very long line. The format depends
    on the content. The name only distinguishes CSV from other text, and archives from documents
    that are ZIP files.
    """
    if head.startswith(_ZIP_SIGNATURES):
        return None if name.lower().endswith(_DOCUMENT_EXTENSIONS) else "zip"
    head = open_as_utf8(io.BytesIO(head)).read()
    if find_delimiter_line(head):
        return "csv"
    start = head.removeprefix(b"\xef\xbb\xbf").lstrip()
    if start.startswith(b"["):
        return "label_studio"
    first_line = start.split(b"\n", 1)[0]
    if start.startswith(b"{"):
        return "doccano" if _is_doccano_line(first_line) else "jsonl"
    header = first_line.decode("utf-8", "replace").strip()
    columns = {header}
    for delimiter in DELIMITERS:
        columns |= {column.strip(' "') for column in header.split(delimiter)}
    if TEXT_COLUMN in columns or name.lower().endswith(_CSV_EXTENSIONS):
        return "csv"
    return None


def _is_doccano_line(line: bytes) -> bool:
    try:
        return not orjson.loads(line).keys().isdisjoint(LABEL_PROPERTIES)
    except orjson.JSONDecodeError:
        return False
