"""Bodies with a content coding: gzip is undone while it is read, anything else is refused."""

import zlib
from collections.abc import Callable
from typing import IO

from flask import request

from app.kit import errors
from app.kit.errors import ApiError

_IDENTITY = frozenset({"", "identity"})
_GZIP_WINDOW = 31  # the largest window, in the format of gzip
_CHUNK_BYTES = 64 * 1024
_GZIP = frozenset({"gzip", "x-gzip"})  # the older name of the same (RFC 9110, section 8.4.1.3)


def is_encoded() -> bool:
    """Return whether the body has a content coding. Raises 415 on one that is not understood."""
    coding = request.headers.get("Content-Encoding", "").strip().lower()
    if coding in _IDENTITY:
        return False
    if coding not in _GZIP:
        raise ApiError(
            "unsupported_media_type",
            "The body must be sent as it is, or with `Content-Encoding: gzip`.",
            field="Content-Encoding",
            details={"supported": ["gzip"]},
            headers={"Accept-Encoding": "gzip"},
        )
    return True


class _Gunzip:
    """What a stream of one gzip member unpacks to.

    `gzip.GzipFile` would take any number of members, and each costs far more than its twenty bytes.
    """

    def __init__(self, stream: IO[bytes]) -> None:
        self._stream = stream
        self._inflate = zlib.decompressobj(wbits=_GZIP_WINDOW)
        self._packed = b""

    def read(self, size: int) -> bytes:
        """Return up to `size` bytes, none at the end. Raises zlib.error."""
        while not self._inflate.eof:
            packed = self._packed or self._stream.read(_CHUNK_BYTES)
            data = self._inflate.decompress(packed, size)
            self._packed = self._inflate.unconsumed_tail
            if data:
                return data
            if not packed:
                raise zlib.error("it ends too early")
        if self._inflate.unused_data or self._stream.read(1):
            raise zlib.error("something follows it")
        return b""


class BodyReader:
    """The request's body as it was before any content coding.

    `refuse` makes the error that is raised as soon as more than `limit` bytes have been read: what
    a small body unpacks to takes neither memory nor time beyond that.
    """

    def __init__(self, limit: int, refuse: Callable[[], ApiError]) -> None:
        self._stream: _Gunzip | IO[bytes] = request.stream
        if is_encoded():
            self._stream = _Gunzip(request.stream)
        self._left = limit
        self._refuse = refuse

    def read(self, size: int) -> bytes:
        """Return up to `size` bytes, none at the end. Raises 413 and 422."""
        try:
            data = self._stream.read(size)
        except zlib.error:
            raise errors.unprocessable("body", "The body is not valid gzip.") from None
        self._left -= len(data)
        if self._left < 0:
            raise self._refuse()
        return data
