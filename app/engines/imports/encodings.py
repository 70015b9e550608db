"""Read UTF-16 files, such as the Unicode text that Excel saves, as UTF-8."""

import codecs
import io
from typing import BinaryIO, cast

_UTF16_BOMS = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
_CHUNK_BYTES = 256 * 1024
_INVALID_BYTE = b"\xff"
"""A byte that UTF-8 does not use, so that readers reject the record that contains it."""


class _Utf8File(io.RawIOBase):
    """The content of a UTF-16 file in UTF-8, without the byte order mark.

    Offsets count bytes of UTF-8. `seek` reads the file from its start, because UTF-16 has other
    offsets. Lone surrogates become invalid UTF-8.
    """

    def __init__(self, file: BinaryIO) -> None:
        self._file = file
        self.seek(0)

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def tell(self) -> int:
        return self._offset

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        if whence != io.SEEK_SET:
            raise io.UnsupportedOperation("only seeking from the start is supported")
        self._file.seek(0)
        self._decoder = codecs.getincrementaldecoder("utf-16")("surrogatepass")
        self._unread, self._offset = b"", 0
        while self._offset < offset and self.read(min(_CHUNK_BYTES, offset - self._offset)):
            pass
        return self._offset

    def readinto(self, buffer: "memoryview") -> int:  # type: ignore[override]
        while not self._unread and (data := self._file.read(_CHUNK_BYTES)):
            self._unread = self._decoder.decode(data).encode("utf-8", "surrogatepass")
        if not self._unread and self._decoder.getstate()[0]:
            # The last character is incomplete.
            self._decoder.reset()
            self._unread = _INVALID_BYTE
        size = min(len(buffer), len(self._unread))
        buffer[:size], self._unread = self._unread[:size], self._unread[size:]
        self._offset += size
        return size


def open_as_utf8(file: BinaryIO) -> BinaryIO:
    """Return a file with the same text in UTF-8 if `file` has the byte order mark of UTF-16.

    Otherwise, returns `file` itself, rewound to its start.
    """
    file.seek(0)
    is_utf16 = file.read(len(_UTF16_BOMS[0])) in _UTF16_BOMS
    file.seek(0)
    return cast("BinaryIO", _Utf8File(file)) if is_utf16 else file
