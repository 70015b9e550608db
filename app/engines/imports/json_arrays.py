"""Read the objects in a JSON array one by one, without loading the whole file."""

import codecs
import json
import re
from collections.abc import Iterator
from typing import BinaryIO

from app.engines.imports.lines import MAX_LINE_BYTES
from app.engines.imports.records import (
    START,
    TOO_LARGE,
    Converter,
    Entry,
    ImportFileError,
    ParseResult,
    Reader,
    parse_object,
)

_CHUNK_BYTES = 256 * 1024
_GAP = re.compile("[ \t\r\n,\ufeff]*")
"""The characters between two elements, and before the first element."""


class JsonArrayReader(Reader):
    """Reads formats whose files are JSON arrays of objects.

    Raises ImportFileError if a file is not a well-formed JSON array.
    """

    def __init__(self, convert: Converter) -> None:
        self._convert = convert

    def _scan(self, file: BinaryIO, offset: int) -> Iterator[Entry]:
        return _ArrayScanner(file, offset).read()

    def _parse(self, data: bytes) -> ParseResult:
        if len(data) > MAX_LINE_BYTES:
            return None, (TOO_LARGE, f"The record is longer than {MAX_LINE_BYTES} bytes.")
        return parse_object(data, self._convert)


class _ArrayScanner:
    """Finds the elements of the array in a file, keeping only a part of the file in memory."""

    def __init__(self, file: BinaryIO, offset: int) -> None:
        file.seek(offset)
        self._file = file
        # Invalid UTF-8 becomes surrogates; `parse_object` rejects only the record that has them.
        self._decoder = codecs.getincrementaldecoder("utf-8")("surrogateescape")
        # Numbers stay text, because they may have any length.
        self._parser = json.JSONDecoder(parse_int=str, parse_float=str)
        self._text = ""
        self._index = 0
        self._offset = offset

    def read(self) -> Iterator[Entry]:
        start = self._offset
        if self._offset == START.offset:
            self._skip_gap()
            if self._peek() != "[":
                raise ImportFileError("The file must be a JSON array.")
            self._read_until(self._index + 1)
        while True:
            self._skip_gap()
            if not self._peek():
                raise ImportFileError("The JSON array is incomplete; its closing `]` is missing.")
            if self._peek() == "]":
                return
            data = self._read_until(self._find_end())
            yield Entry(data, self._offset - start, self._offset)
            start = self._offset

    def _find_end(self) -> int:
        """Return the index after the current element. Raises ImportFileError if it is malformed."""
        while True:
            start = self._index
            try:
                _, end = self._parser.raw_decode(self._text, start)
            except json.JSONDecodeError as failure:
                # The element may be incomplete.
                if self._is_too_long() or not self._read_chunk():
                    position = self._offset + failure.pos - start
                    message = f"Malformed JSON near byte {position}: {failure.msg}."
                    raise ImportFileError(message) from None
            except RecursionError:
                raise ImportFileError("The JSON is nested too deeply.") from None
            else:
                # More digits of a number may follow.
                if end < len(self._text) or not self._read_chunk():
                    return self._index + end - start

    def _is_too_long(self) -> bool:
        return len(self._text) - self._index > 2 * MAX_LINE_BYTES

    def _skip_gap(self) -> None:
        while True:
            match = _GAP.match(self._text, self._index)
            assert match is not None
            self._read_until(match.end())
            if self._peek() or not self._read_chunk():
                return

    def _peek(self) -> str:
        return self._text[self._index : self._index + 1]

    def _read_until(self, index: int) -> bytes:
        data = self._text[self._index : index].encode("utf-8", "surrogateescape")
        self._offset += len(data)
        self._index = index
        return data

    def _read_chunk(self) -> bool:
        """Read a chunk at least as long as the unread text. Return False at the end of the file."""
        unread_text = self._text[self._index :]
        # Each retry of a long element doubles the text, so the total time is linear.
        data = self._file.read(max(_CHUNK_BYTES, len(unread_text)))
        self._text = unread_text + self._decoder.decode(data, final=not data)
        self._index = 0
        return bool(data)
