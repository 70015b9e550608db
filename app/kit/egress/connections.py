"""Connections, pools and a `requests` adapter that connect only to allowed addresses."""

import re
import socket
import ssl
from collections.abc import Callable
from functools import lru_cache
from http import HTTPStatus
from http.client import HTTPResponse
from math import inf
from time import monotonic
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from requests import PreparedRequest, Response
from requests.adapters import HTTPAdapter
from requests.exceptions import ConnectionError as RequestsConnectionError
from requests.exceptions import RequestException
from requests.utils import DEFAULT_CA_BUNDLE_PATH
from urllib3 import HTTPConnectionPool, HTTPSConnectionPool, PoolManager
from urllib3.connection import HTTPConnection, HTTPSConnection
from urllib3.exceptions import ConnectTimeoutError, NewConnectionError

from app.kit.egress.policy import EgressRefused, Policy
from app.kit.egress.resolve import Endpoint, ResolutionFailed, resolve
from app.kit.egress.sockets import (
    Call,
    CallSocket,
    CallSSLSocket,
    get_current_call,
    set_current_call,
)

if TYPE_CHECKING:
    from urllib3._base_connection import BaseHTTPConnection

Timeout = float | tuple[float, float] | tuple[float, None]
"""One timeout in seconds for both connecting and reading, or a timeout for each."""
# The maximum time in seconds for a DNS lookup, and for connecting if no timeout is set.
_LOOKUP_SECONDS = 10.0
_DEFAULT_TIMEOUTS = (10.0, 60.0)
_MAX_URL_LENGTH = 2048
_MAX_POOLS = 64
_MAX_IDLE_CONNECTIONS = 32


class _FinalResponse(HTTPResponse):
    """A response that skips interim responses. The base class skips only the status 100."""

    def begin(self) -> None:
        super().begin()
        while HTTPStatus.PROCESSING <= self.status < HTTPStatus.OK:
            self.headers = None  # type: ignore[assignment]  # otherwise `begin` does nothing
            super().begin()


class _GuardedConnection(HTTPConnection):
    """Base class of plain and TLS connections. It connects only to allowed addresses."""

    response_class = _FinalResponse
    _was_used = False
    idle_since = 0.0
    """The `monotonic()` time at which the connection was returned to its pool."""

    def _new_conn(self) -> CallSocket:
        call = get_current_call()
        self._was_used = False
        endpoints = resolve(
            call.policy, self._dns_host, self.port, min(call.get_remaining(), _LOOKUP_SECONDS)
        )
        last_error: OSError | None = None
        for position, endpoint in enumerate(endpoints):
            try:
                return self._connect(call, endpoint, untried_count=len(endpoints) - position)
            except OSError as error:
                last_error = error
        if isinstance(last_error, TimeoutError):
            raise ConnectTimeoutError(self, "the connection timed out") from last_error
        raise NewConnectionError(self, "the connection failed") from last_error

    def _connect(self, call: Call, endpoint: Endpoint, untried_count: int) -> CallSocket:
        """Connect to one address.

        `untried_count` addresses have not been tried. The remaining time is divided equally among
        them.
        """
        connection = CallSocket(endpoint.family)
        try:
            for option in self.socket_options or ():
                connection.setsockopt(*option)
            timeout = self.timeout if isinstance(self.timeout, int | float) else _LOOKUP_SECONDS
            connection.settimeout(min(call.get_remaining() / untried_count, timeout))
            connection.connect(endpoint.address)
            _check_peer(call, connection)
        except BaseException:
            connection.close()
            raise
        connection.call = call
        return connection

    def request(self, *args: Any, **kwargs: Any) -> None:
        call = get_current_call()
        if self.sock is not None and self._was_used:
            if call.may_reuse_connection(monotonic() - self.idle_since):
                call.uses_pooled_connection = True
                _check_peer(call, self.sock)
            else:
                self.close()
        if self.sock is None:
            self.connect()
        self._was_used = True
        if isinstance(self.sock, CallSocket | CallSSLSocket):
            self.sock.call = call
        super().request(*args, **kwargs)


class GuardedHTTPConnection(_GuardedConnection):
    """An unencrypted connection to an allowed address."""


class GuardedHTTPSConnection(_GuardedConnection, HTTPSConnection):
    """A TLS connection to an allowed address. It verifies the certificate for the host name."""


def _check_peer(call: Call, connection: socket.socket) -> None:
    if not call.policy.allows(connection.getpeername()[0]):
        raise EgressRefused("the host does not have a public address")


class _TimestampPool(HTTPConnectionPool):
    """A pool that records when a connection is returned to it."""

    def _put_conn(self, conn: "BaseHTTPConnection | None") -> None:
        if isinstance(conn, _GuardedConnection):
            conn.idle_since = monotonic()
        super()._put_conn(conn)


class _HTTPPool(_TimestampPool):
    ConnectionCls = GuardedHTTPConnection


class _HTTPSPool(_TimestampPool, HTTPSConnectionPool):
    ConnectionCls = GuardedHTTPSConnection


def build_tls_context(ca_file: str | None) -> ssl.SSLContext:
    """Return a TLS context that verifies certificates.

    It trusts the certificate authorities of certifi and of `ca_file`.
    """
    context = ssl.create_default_context(cafile=DEFAULT_CA_BUNDLE_PATH)
    if ca_file is not None:
        context.load_verify_locations(cafile=ca_file)
    context.sslsocket_class = CallSSLSocket
    return context


class GuardedAdapter(HTTPAdapter):
    """An adapter for `requests` that uses guarded connections.

    `build_call` returns a `Call` with the limits for each request from a session.
    """

    def __init__(self, build_call: Callable[[], Call], context: ssl.SSLContext) -> None:
        self._build_call = build_call
        self._context = context
        super().__init__(
            pool_connections=_MAX_POOLS, pool_maxsize=_MAX_IDLE_CONNECTIONS, max_retries=0
        )

    def init_poolmanager(self, connections: int, maxsize: int, *_: object, **__: object) -> None:
        self.poolmanager = PoolManager(
            num_pools=connections, maxsize=maxsize, ssl_context=self._context
        )
        self.poolmanager.pool_classes_by_scheme = {"http": _HTTPPool, "https": _HTTPSPool}

    def cert_verify(self, *args: object, **kwargs: object) -> None:
        """Do nothing: the TLS context verifies certificates.

        `requests` would load all certificate authorities again for every connection.
        """

    def send(
        self,
        request: PreparedRequest,
        stream: bool = False,  # noqa: ARG002, FBT001, FBT002 - the signature of requests
        timeout: Timeout | None = None,
        *_: object,
        **__: object,
    ) -> Response:
        """Send a request from a session, never through a proxy, and always verify certificates.

        The body may be an iterator of short chunks if the request has a `Content-Length`. The
        deadline includes sending the body, and the read timeout also applies to each chunk.

        Raises:
            EgressRefused: the policy does not allow the request.
            RequestException: the request failed.
        """
        timeout = timeout or _DEFAULT_TIMEOUTS
        call = self._build_call()
        read_timeout = timeout[1] if isinstance(timeout, tuple) else timeout
        call.operation_timeout = inf if read_timeout is None else read_timeout
        try:
            return self.send_call(request, call, timeout)
        except ResolutionFailed as error:
            raise RequestsConnectionError(error, request=request) from error

    def send_call(
        self, request: PreparedRequest, call: Call, timeout: Timeout = _DEFAULT_TIMEOUTS
    ) -> Response:
        """Send a request within the limits of `call`, without reading the response body."""
        check_target(call.policy, request.url or "")
        with set_current_call(call):
            response = super().send(request, stream=True, timeout=timeout, verify=True)
        # Never decompress the body. It may be a decompression bomb, because the request does not
        # accept compression.
        response.raw.headers.discard("Content-Encoding")
        return response


@lru_cache(maxsize=2048)
def check_target(policy: Policy, url: str) -> tuple[str, int]:
    """Check a URL, and return its host and port as `requests` parses them.

    Raises:
        EgressRefused: the URL is malformed or not allowed. The addresses of the host are not
            checked.
    """
    if policy.closed:
        raise EgressRefused("outbound traffic is switched off")
    if len(url) > _MAX_URL_LENGTH or re.search(r"[\x00-\x20\x7f\\]", url):
        raise EgressRefused("the URL is malformed or too long")
    request = PreparedRequest()
    try:
        original_parts = urlsplit(url)
        request.prepare_url(url, None)
        parts = urlsplit(request.url or "")
        port = parts.port
        # `requests` would ignore a user name and port 0 without an error.
        has_user_or_port_0 = "@" in original_parts.netloc or original_parts.port == 0
    except (RequestException, ValueError):  # a lone surrogate raises UnicodeError
        raise EgressRefused("the URL is malformed") from None
    if parts.scheme not in (("https", "http") if policy.allow_http else ("https",)):
        raise EgressRefused("the URL must begin with https://")
    if has_user_or_port_0 or "@" in parts.netloc:
        raise EgressRefused("the URL must not have a user name, a password or port 0")
    if not parts.hostname:
        raise EgressRefused("the URL has no host")
    return parts.hostname, port or (443 if parts.scheme == "https" else 80)
