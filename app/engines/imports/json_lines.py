"""Read JSON Lines: one object in each line. Blank lines are ignored."""

from collections.abc import Iterator
from typing import BinaryIO

from app.engines.imports.lines import MAX_LINE_BYTES, read_lines
from app.engines.imports.records import (
    START,
    TOO_LARGE,
    Converter,
    Position,
    Record,
    RecordContent,
    parse_object,
)

_BOM = b"\xef\xbb\xbf"


class JsonLinesReader:
    """Reads `jsonl` files, and files of other formats with one object in each line."""

    def __init__(self, convert: Converter = RecordContent) -> None:
        self._convert = convert

    def read(self, file: BinaryIO, start: Position) -> Iterator[Record]:
        """Yield the records of a file from `start`."""
        offset, number = start
        for line in read_lines(file, offset):
            size, offset = line.end - offset, line.end
            if line.data is not None and line.data.isspace():
                continue
            data = line.data
            if data is not None and line.end == size:
                data = data.removeprefix(_BOM)
            content, error = self._parse_line(data)
            yield Record(number, content, error, size, Position(line.end, number + 1))
            number += 1

    def count(self, file: BinaryIO) -> int:
        """Return the number of records in a file."""
        lines = read_lines(file, START.offset)
        return sum(line.data is None or not line.data.isspace() for line in lines)

    def _parse_line(
        self, data: bytes | None
    ) -> tuple[RecordContent | None, tuple[str, str] | None]:
        if data is None:
            return None, (TOO_LARGE, f"The line is longer than {MAX_LINE_BYTES} bytes.")
        return parse_object(data, self._convert)
