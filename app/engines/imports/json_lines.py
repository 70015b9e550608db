"""Read JSON Lines: one object in each line. Blank lines are ignored."""

from collections.abc import Iterator
from typing import BinaryIO

from app.engines.imports.lines import MAX_LINE_BYTES, read_lines
from app.engines.imports.records import (
    START,
    TOO_LARGE,
    Converter,
    Entry,
    ParseResult,
    Reader,
    RecordContent,
    parse_object,
)

_BOM = b"\xef\xbb\xbf"


class JsonLinesReader(Reader):
    """Reads `jsonl` files, and files of other formats with one object in each line."""

    def __init__(self, convert: Converter = RecordContent) -> None:
        self._convert = convert

    def _scan(self, file: BinaryIO, offset: int) -> Iterator[Entry]:
        for line in read_lines(file, offset):
            start, offset, data = offset, line.end, line.data
            if data is not None and start == START.offset:
                data = data.removeprefix(_BOM)
            if line.data is None or not line.data.isspace():
                yield Entry(data, line.end - start, line.end)

    def _parse(self, data: bytes | None) -> ParseResult:
        if data is None:
            return None, (TOO_LARGE, f"The line is longer than {MAX_LINE_BYTES} bytes.")
        return parse_object(data, self._convert)
