"""Connections, pools and an adapter of requests that connect to judged addresses only."""

import re
import ssl
from collections.abc import Callable
from functools import lru_cache
from time import monotonic
from typing import Any
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
from app.kit.egress.sockets import Call, CallSocket, CallSSLSocket, calling, current_call

# Where neither deadline nor timeout says otherwise, a name is looked up for so long.
_LOOKUP_SECONDS = 10.0
_TIMEOUTS = (10.0, 60.0)
_URL_MAX = 2048
_HOSTS_KEPT = 64
_CONNECTIONS_KEPT = 32


class _Guarded(HTTPConnection):
    """What plain and TLS connections have in common."""

    _used = False
    idle_since = 0.0
    """When it was put back for others to use."""

    def _new_conn(self) -> CallSocket:
        call = current_call()
        self._used = False
        endpoints = resolve(
            call.policy, self._dns_host, self.port, min(call.remaining(), _LOOKUP_SECONDS)
        )
        problem: OSError | None = None
        for position, endpoint in enumerate(endpoints):
            try:
                return self._connect(call, endpoint, share=len(endpoints) - position)
            except OSError as error:
                problem = error
        if isinstance(problem, TimeoutError):
            raise ConnectTimeoutError(self, "no connection in time") from problem
        raise NewConnectionError(self, "no connection") from problem

    def _connect(self, call: Call, endpoint: Endpoint, share: int) -> CallSocket:
        """Connect to one of several addresses; a dead one may use up its share of the time only."""
        connection = CallSocket(endpoint.family)
        try:
            for option in self.socket_options or ():
                connection.setsockopt(*option)
            own = self.timeout if isinstance(self.timeout, int | float) else _LOOKUP_SECONDS
            connection.settimeout(min(call.remaining() / share, own))
            connection.connect(endpoint.address)
            _judge_peer(call, connection)
        except BaseException:
            connection.close()
            raise
        connection.call = call
        return connection

    def request(self, *args: Any, **kwargs: Any) -> None:
        call = current_call()
        if self.sock is not None and self._used:
            if call.may_reuse(monotonic() - self.idle_since):
                call.reused = True
                _judge_peer(call, self.sock)
            else:
                self.close()
        if self.sock is None:
            self.connect()
        self._used = True
        if isinstance(self.sock, CallSocket | CallSSLSocket):
            self.sock.call = call
        super().request(*args, **kwargs)


class GuardedHTTPConnection(_Guarded):
    """A plain connection to a judged address."""


class GuardedHTTPSConnection(_Guarded, HTTPSConnection):
    """A TLS connection to a judged address, with the name and certificate of its host."""


def _judge_peer(call: Call, connection: Any) -> None:
    if not call.policy.allows(connection.getpeername()[0]):
        raise EgressRefused("the host does not have a public address")


class _StampingPool(HTTPConnectionPool):
    """Notes when a connection is put back."""

    def _put_conn(self, conn: Any) -> None:
        if conn is not None:
            conn.idle_since = monotonic()
        super()._put_conn(conn)


class _HTTPPool(_StampingPool):
    ConnectionCls = GuardedHTTPConnection


class _HTTPSPool(_StampingPool, HTTPSConnectionPool):
    ConnectionCls = GuardedHTTPSConnection


def tls_context(ca_file: str | None) -> ssl.SSLContext:
    """Certificates and host names are checked; a file adds authorities to certifi's."""
    context = ssl.create_default_context(cafile=DEFAULT_CA_BUNDLE_PATH)
    if ca_file is not None:
        context.load_verify_locations(cafile=ca_file)
    context.sslsocket_class = CallSSLSocket
    return context


class GuardedAdapter(HTTPAdapter):
    """The adapter of requests behind which the guarded connections are."""

    def __init__(self, limits: Callable[[], Call], context: ssl.SSLContext) -> None:
        """:param limits: makes the call for a request that brings none of its own."""
        self._limits = limits
        self._context = context
        super().__init__(
            pool_connections=_HOSTS_KEPT, pool_maxsize=_CONNECTIONS_KEPT, max_retries=0
        )

    def init_poolmanager(self, connections: int, maxsize: int, *_: Any, **__: Any) -> None:
        self.poolmanager = PoolManager(
            num_pools=connections, maxsize=maxsize, ssl_context=self._context
        )
        self.poolmanager.pool_classes_by_scheme = {"http": _HTTPPool, "https": _HTTPSPool}

    def cert_verify(self, *args: Any, **kwargs: Any) -> None:
        """Do nothing: the context verifies certificates.

        requests would load all authorities again for every connection.
        """

    def send(self, request: PreparedRequest, *args: Any, **kwargs: Any) -> Response:
        """Send a request for a session, without a proxy; certificates are always checked.

        :raises EgressRefused: the door stays shut.
        """
        timeout = args[1] if len(args) > 1 else kwargs.get("timeout")
        try:
            return self.send_call(request, self._limits(), timeout or _TIMEOUTS)
        except ResolutionFailed as error:
            raise RequestsConnectionError(error, request=request) from error

    def send_call(self, request: PreparedRequest, call: Call, timeout: Any = _TIMEOUTS) -> Response:
        """Send within the limits of a call; the body is not read yet."""
        check_target(call.policy, request.url or "")
        with calling(call):
            response = super().send(request, stream=True, timeout=timeout, verify=True)
        # Nothing was to be compressed, so what is all the same is not unpacked: it may be a bomb.
        response.raw.headers.discard("Content-Encoding")
        return response


@lru_cache(maxsize=2048)
def check_target(policy: Policy, url: str) -> tuple[str, int]:
    """Host and port of a URL as requests will read it.

    :raises EgressRefused: what can be refused without asking where the host is.
    """
    if policy.closed:
        raise EgressRefused("outbound traffic is switched off")
    if len(url) > _URL_MAX or re.search(r"[\x00-\x20\x7f\\]", url):
        raise EgressRefused("not a URL")
    request = PreparedRequest()
    try:
        given = urlsplit(url)
        request.prepare_url(url, None)
        parts = urlsplit(request.url or "")
        port = parts.port
        # What requests would pass over in silence.
        odd = "@" in given.netloc or given.port == 0
    except (RequestException, ValueError):  # lone surrogates are a UnicodeError
        raise EgressRefused("not a URL") from None
    if parts.scheme not in (("https", "http") if policy.allow_http else ("https",)):
        raise EgressRefused("the URL has to begin with https://")
    if odd or "@" in parts.netloc:
        raise EgressRefused("the URL must not have a user name, a password or port 0")
    if not parts.hostname:
        raise EgressRefused("not a URL")
    return parts.hostname, port or (443 if parts.scheme == "https" else 80)
