"""Bodies with a content coding: gzip is undone while it is read, anything else is refused."""

import gzip
import zlib
from collections.abc import Callable
from typing import IO

from flask import request

from app.kit import errors
from app.kit.errors import ApiError

_IDENTITY = frozenset({"", "identity"})
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


class BodyReader:
    """The request's body as it was before any content coding.

    `refuse` makes the error that is raised as soon as more than `limit` bytes have been read: what
    a small body unpacks to takes neither memory nor time beyond that.
    """

    def __init__(self, limit: int, refuse: Callable[[], ApiError]) -> None:
        self._stream: IO[bytes] = request.stream
        self._is_encoded = is_encoded()
        if self._is_encoded:
            self._stream = gzip.GzipFile(fileobj=request.stream)  # type: ignore[assignment]
        self._left = limit
        self._refuse = refuse

    def read(self, size: int) -> bytes:
        """Return up to `size` bytes, none at the end. Raises 413 and 422."""
        try:
            data = self._stream.read(size)
        except (EOFError, gzip.BadGzipFile, zlib.error):
            if not self._is_encoded:
                raise
            raise errors.unprocessable("body", "The body is not valid gzip.") from None
        self._left -= len(data)
        if self._left < 0:
            raise self._refuse()
        return data
