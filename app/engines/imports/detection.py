"""Detect the format of an import file from its content and its name."""

from app.engines.imports.csv_rows import DELIMITERS, TEXT

_CSV_EXTENSIONS = (".csv", ".tsv")


def detect_format(head: bytes, name: str) -> str | None:
    """Return the id of the format, or None if it is not recognized.

    `head` has the first kilobytes of the file. The content decides; the name only distinguishes CSV
    from other text.
    """
    start = head.removeprefix(b"\xef\xbb\xbf").lstrip()
    if start.startswith(b"{"):
        return "jsonl"
    first = start.split(b"\n", 1)[0].decode("utf-8", "replace").strip()
    columns = {first}
    for delimiter in DELIMITERS:
        columns |= {column.strip(' "') for column in first.split(delimiter)}
    if TEXT in columns or name.lower().endswith(_CSV_EXTENSIONS):
        return "csv"
    return None
