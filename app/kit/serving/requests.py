"""Incremental parser for HTTP requests. It parses the bytes as they arrive."""

from urllib.parse import SplitResult

import httptools
from gunicorn.util import split_request_uri

from app.kit import errors
from app.kit.errors import ApiError
from app.kit.serving.bodies import Body
from app.kit.serving.limits import ClientLimits

CONTINUE = b"HTTP/1.1 100 Continue\r\n\r\n"
_END_OF_HEAD = b"\r\n\r\n"
_VERSIONS = {"1.0": (1, 0), "1.1": (1, 1)}
_CHUNKED_HEAD = b"POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n"
_SINGLE_HEADERS = frozenset({"HOST", "CONTENT-TYPE", "TRANSFER-ENCODING"})
# With its framing, a chunked body may take eight times its size, and this number of bytes more.
# Otherwise its chunks are so small that parsing them takes too long.
_FRAMING_SLACK_BYTES = 64 * 1024


def build_malformed_error(reason: str) -> ApiError:
    """Return the 400 error for a request that cannot be parsed."""
    return errors.invalid(f"The request is malformed: {reason}", "request")


class Request:
    """A request that is being received. gunicorn's `wsgi.create` builds its WSGI environment.

    The parser is llhttp in strict mode. It calls the methods that begin with `on_`. These methods
    store errors in `_error`, because an exception would leave the parser in an undefined state.
    """

    __slots__ = (
        "_connection",
        "_error",
        "_expected_100_continue",
        "_head_bytes",
        "_limits",
        "_parser",
        "_remaining",
        "_tail",
        "_wire_bytes",
        "body",
        "body_store",
        "chunked",
        "complete",
        "expects_continue",
        "fragment",
        "has_extra_data",
        "head_complete",
        "headers",
        "method",
        "path",
        "proxy_protocol_info",
        "query",
        "scheme",
        "uri",
        "url",
        "version",
    )

    def __init__(self, limits: ClientLimits, body: Body) -> None:
        self._limits = limits
        self._parser = httptools.HttpRequestParser(self)
        self._error: ApiError | None = None
        self._tail = b""
        self._head_bytes = self._wire_bytes = self._remaining = 0
        self._connection = ""
        self.body_store = body
        self.chunked = self.complete = self.head_complete = False
        self.expects_continue = self.has_extra_data = False
        self.url = b""
        self.method = self.uri = self.path = self.query = ""
        self.version = (1, 1)
        self.headers: list[tuple[str, str]] = []
        # gunicorn reads these attributes. The loop itself responds to `Expect: 100-continue`.
        self.body = body.file
        self.scheme, self.fragment = "http", ""
        self._expected_100_continue = False
        self.proxy_protocol_info = None

    @property
    def is_started(self) -> bool:
        """Return whether at least one byte of the request has arrived."""
        return self._head_bytes > 0

    def get_header(self, name: str) -> str:
        """Return the value of the first header with this upper-case name, or an empty string."""
        return next((value for key, value in self.headers if key == name), "")

    def should_close(self) -> bool:
        """Return whether the connection must be closed after the response."""
        if self.has_extra_data or "close" in self._connection:
            return True
        return self.version == (1, 0) and "keep-alive" not in self._connection

    def feed(self, data: bytes | memoryview) -> bytes:
        """Parse the next bytes, and return the bytes that belong to the following request.

        Raises ApiError if the request is malformed or too large, or if there is no room for its
        body.
        """
        if not self.head_complete:
            data = self._feed_head(bytes(data))
        if self.head_complete and not self.complete and data:
            return self._feed_chunks(data) if self.chunked else self._feed_body(data)
        return bytes(data)

    def end(self) -> None:
        """Handle the end of the client's data. Raises ApiError if the request is incomplete."""
        if self.is_started and not self.complete:
            raise build_malformed_error("it ends before it is complete.")

    def _feed_head(self, data: bytes) -> bytes:
        if not self.is_started:
            data = data.lstrip(b"\r\n")  # some clients send an empty line after a body
            if not data:
                return b""
        # The end of the head may be split between two calls, so the last three bytes are kept.
        index = (self._tail + data).find(_END_OF_HEAD)
        end = len(data) if index < 0 else index + len(_END_OF_HEAD) - len(self._tail)
        head, following_data = data[:end], data[end:]
        self._tail = (self._tail + head)[-3:]
        self._head_bytes += len(head)
        self._parse(head)
        if self._head_bytes > self._limits.head_bytes:
            raise ApiError("headers_too_large", "The request's headers are too large.")
        if self.head_complete:
            self._read_head()
        return following_data

    def _parse(self, data: bytes | memoryview) -> None:
        try:
            self._parser.feed_data(data)
        except httptools.HttpParserUpgrade:
            pass  # no other protocol is supported, so the request is handled as usual
        except httptools.HttpParserError as error:
            if self._error is None and not self.complete:
                raise build_malformed_error(f"{error}.") from None
        if self._error is not None:
            raise self._error

    def _read_head(self) -> None:
        self.method = self._parser.get_method().decode("ascii")
        version = _VERSIONS.get(self._parser.get_http_version())
        if version is None:
            raise build_malformed_error("only HTTP/1.0 and HTTP/1.1 are supported.")
        self.version = version
        parts = self._split_uri()
        self.path, self.query = parts.path or "", parts.query or ""
        self._read_headers()

    def _split_uri(self) -> SplitResult:
        self.uri = self.url.decode("latin-1")
        has_path = self.uri.startswith("/") or "://" in self.uri
        is_asterisk_form = self.method == "OPTIONS" and self.uri == "*"
        if self.method == "CONNECT" or not (has_path or is_asterisk_form):
            raise build_malformed_error("its target is not a path.")
        try:
            parts: SplitResult = split_request_uri(self.uri)
        except ValueError:
            raise build_malformed_error("its target is not a URL.") from None
        return parts

    def _read_headers(self) -> None:
        values: dict[str, str] = {}
        connection_values: list[str] = []
        for name, value in self.headers:
            if name in _SINGLE_HEADERS and name in values:
                raise build_malformed_error(f"it has more than one {name.title()} header.")
            values[name] = value
            if name == "CONNECTION":
                connection_values.append(value.lower())
        self._connection = ", ".join(connection_values)
        if "TRANSFER-ENCODING" in values:
            # Other codings, such as gzip, are not decoded, so the body would be unreadable.
            if values["TRANSFER-ENCODING"].lower() != "chunked" or self.version == (1, 0):
                raise build_malformed_error("the only supported transfer coding is chunked.")
            self.chunked = True
            if self._parser.should_upgrade():
                # This parser would treat the body as another protocol.
                self._parser = httptools.HttpRequestParser(self)
                self._parse(_CHUNKED_HEAD)
        else:
            self._remaining = int(values.get("CONTENT-LENGTH", 0))
            self._check_size(self._remaining)
            self.complete = self._remaining == 0
        self._read_expectation(values.get("EXPECT", "").lower())

    def _read_expectation(self, expectation: str) -> None:
        if not expectation or self.version == (1, 0):
            return
        if expectation != "100-continue":
            raise build_malformed_error("the only supported expectation is 100-continue.")
        self.expects_continue = not self.complete

    def _check_size(self, size: int) -> None:
        limit = self._limits.body_bytes
        if size > limit:
            raise ApiError(
                "payload_too_large",
                f"The body is larger than {limit} bytes.",
                details={"limit": limit},
            )

    def _feed_body(self, data: bytes | memoryview) -> bytes:
        part = data[: self._remaining]
        following_data = bytes(data[self._remaining :])
        self.body_store.write(part)
        self._remaining -= len(part)
        self.complete = self._remaining == 0
        return following_data

    def _feed_chunks(self, data: bytes | memoryview) -> bytes:
        self._wire_bytes += len(data)
        self._parse(data)
        if self._wire_bytes > _FRAMING_SLACK_BYTES + 8 * self.body_store.size:
            raise build_malformed_error("its chunks are too small.")
        return b""

    def on_message_begin(self) -> None:
        self.has_extra_data = self.complete

    def on_url(self, url: bytes) -> None:
        self.url += url
        if len(self.url) > self._limits.line_bytes:
            self._error = ApiError("uri_too_long", "The request URL is too long.")

    def on_header(self, name: bytes, value: bytes) -> None:
        if self.head_complete:
            return  # a trailer
        if len(name) + len(value) > self._limits.header_bytes:
            self._error = ApiError("headers_too_large", "A header of the request is too large.")
        elif len(self.headers) >= self._limits.headers:
            self._error = ApiError("headers_too_large", "The request has too many headers.")
        elif b"_" not in name:  # X_A would be the same as X-A in the WSGI environment
            self.headers.append((name.decode("latin-1").upper(), value.decode("latin-1")))

    def on_headers_complete(self) -> None:
        self.head_complete = True

    def on_body(self, data: bytes) -> None:
        if self._error is not None or self.complete:
            return
        try:
            self._check_size(self.body_store.size + len(data))
            self.body_store.write(data)
        except ApiError as error:
            self._error = error

    def on_message_complete(self) -> None:
        if self.chunked:
            self.complete = True
