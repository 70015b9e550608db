"""Read lines of limited length from a file."""

import io
from collections.abc import Iterator
from contextlib import suppress
from typing import BinaryIO, NamedTuple, cast

MAX_LINE_BYTES = 16 * 1024 * 1024
"""The maximum size of a line in bytes. The text of a record has at most 2,000,000 characters, which
take 12 MB as JSON escapes. Only a text with many escaped characters outside the Basic Multilingual
Plane (12 bytes each) exceeds the limit."""
_BUFFER_BYTES = 1024 * 1024


class Line(NamedTuple):
    """A line of a file.

    `data` includes the line break; it is None if the line is longer than `MAX_LINE_BYTES`. `end` is
    the offset after the line.
    """

    data: bytes | None
    end: int


def read_lines(file: BinaryIO, offset: int) -> Iterator[Line]:
    """Yield the lines of a seekable file from `offset`.

    No other code may use the file until all lines are read or the generator is closed.
    """
    file.seek(offset)
    # Files in object stores have no fast `readline`.
    buffered = io.BufferedReader(cast("io.RawIOBase", file), _BUFFER_BYTES)
    try:
        while data := buffered.readline(MAX_LINE_BYTES + 1):
            offset += len(data)
            if len(data) <= MAX_LINE_BYTES:
                yield Line(data, offset)
                continue
            while data and not data.endswith(b"\n"):
                data = buffered.readline(_BUFFER_BYTES)
                offset += len(data)
            yield Line(None, offset)
    finally:
        # The owner of the file may have closed it before this generator ends.
        with suppress(ValueError):
            buffered.detach()
