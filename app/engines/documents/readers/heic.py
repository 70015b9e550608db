"""Check whether a HEIC file is complete, because libheif accepts truncated files."""

import os
from typing import BinaryIO

_HEADER_BYTES, _LONG_HEADER_BYTES = 8, 16
_MAX_BOXES = 10_000


def is_complete(file: BinaryIO) -> bool:
    """Return whether a HEIC file is complete, and rewind the file.

    In a complete file, the last box (ISO/IEC 14496-12, 4.2) ends at the end of the file.
    """
    end = file.seek(0, os.SEEK_END)
    start = box_count = 0
    while start < end and box_count < _MAX_BOXES:
        file.seek(start)
        header = file.read(_LONG_HEADER_BYTES)
        size = int.from_bytes(header[:4], "big")
        min_size = _HEADER_BYTES
        if size == 1:  # the size follows the type
            size, min_size = int.from_bytes(header[8:], "big"), _LONG_HEADER_BYTES
        elif size == 0:  # up to the end of the file
            size = end - start
        if size < min_size:
            break
        start += size
        box_count += 1
    file.seek(0)
    return start == end
