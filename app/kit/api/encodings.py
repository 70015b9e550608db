"""Content codings of request bodies. gzip is decompressed; other codings are rejected."""

import zlib
from collections.abc import Callable
from typing import IO

from flask import request

from app.kit import errors
from app.kit.errors import ApiError

_IDENTITY_CODINGS = frozenset({"", "identity"})
_GZIP_WBITS = 31  # zlib's code for the largest window and the gzip format
_CHUNK_BYTES = 64 * 1024
_GZIP_CODINGS = frozenset({"gzip", "x-gzip"})  # x-gzip is an older name (RFC 9110, section 8.4.1.3)


def is_encoded() -> bool:
    """Return whether the request body is compressed. Raises 415 for an unsupported coding."""
    coding = request.headers.get("Content-Encoding", "").strip().lower()
    if coding in _IDENTITY_CODINGS:
        return False
    if coding not in _GZIP_CODINGS:
        raise ApiError(
            "unsupported_media_type",
            "The body must be uncompressed, or compressed with `Content-Encoding: gzip`.",
            field="Content-Encoding",
            details={"supported": ["gzip"]},
            headers={"Accept-Encoding": "gzip"},
        )
    return True


class _Gunzip:
    """Decompresses a stream that consists of one gzip member.

    `gzip.GzipFile` would accept any number of gzip members (RFC 1952). An empty member has only
    twenty bytes, but takes far longer to process than twenty bytes of data.
    """

    def __init__(self, stream: IO[bytes]) -> None:
        self._stream = stream
        self._decompressor = zlib.decompressobj(wbits=_GZIP_WBITS)
        self._compressed = b""

    def read(self, size: int) -> bytes:
        """Return up to `size` bytes, and `b""` at the end.

        Raises zlib.error if the stream is malformed or truncated, or if data follows it.
        """
        while not self._decompressor.eof:
            compressed = self._compressed or self._stream.read(_CHUNK_BYTES)
            data = self._decompressor.decompress(compressed, size)
            self._compressed = self._decompressor.unconsumed_tail
            if data:
                return data
            if not compressed:
                raise zlib.error("the stream ends too early")
        if self._decompressor.unused_data or self._stream.read(1):
            raise zlib.error("data follows the stream")
        return b""


class BodyReader:
    """Reads the decompressed body of the request. Raises 415 if its coding is not supported.

    `read` raises the error from `build_error` as soon as more than `limit` bytes have been read.
    Therefore, a compressed body cannot take more memory or time than the limit allows.
    """

    def __init__(self, limit: int, build_error: Callable[[], ApiError]) -> None:
        self._stream: _Gunzip | IO[bytes] = request.stream
        if is_encoded():
            self._stream = _Gunzip(request.stream)
        self._remaining = limit
        self._build_error = build_error

    def read(self, size: int) -> bytes:
        """Return up to `size` bytes, and `b""` at the end.

        Raises 422 if the body is not valid gzip, and the error from `build_error` if it is too
        large.
        """
        try:
            data = self._stream.read(size)
        except zlib.error:
            raise errors.unprocessable("body", "The body is not valid gzip.") from None
        self._remaining -= len(data)
        if self._remaining < 0:
            raise self._build_error()
        return data
