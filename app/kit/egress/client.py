"""The HTTP client for other hosts, which limits time, response size and addresses."""

import os
import re
import socket
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from http.cookiejar import DefaultCookiePolicy
from math import inf
from time import monotonic

import requests
from requests import PreparedRequest, Response
from requests.exceptions import RequestException

from app.kit import release
from app.kit.egress.connections import GuardedAdapter, build_tls_context, check_target
from app.kit.egress.outcome import ErrorKind, Outcome, classify
from app.kit.egress.policy import EgressRefused, Policy
from app.kit.egress.resolve import ResolutionFailed, resolve
from app.kit.egress.sockets import Call, calling, connect
from app.kit.logging import get_logger

log = get_logger("app.egress")

USER_AGENT = release.NAME
_LOOKUP_SECONDS = 5.0
# The bytes that may be received in addition to the body: headers, and the framing of chunks, which
# can take five bytes for each byte of the body.
_FRAME_FACTOR = 8
_HEADER_BYTES = 256 * 1024
_RESERVED = frozenset({"host", "content-length", "transfer-encoding", "accept-encoding"})


@dataclass(slots=True)
class _Received:
    """The parts of a response that have been received so far."""

    status_code: int | None = None
    headers: dict[str, str] = field(default_factory=dict)
    body: bytes = b""

    @property
    def is_success(self) -> bool:
        return (self.status_code or 0) // 100 == 2  # noqa: PLR2004

    def as_outcome(self, seconds: float, error: str | None, kind: ErrorKind | None) -> Outcome:
        return Outcome(
            status_code=self.status_code,
            headers=self.headers,
            body=self.body,
            duration_ms=round(seconds * 1000),
            error=error,
            error_kind=kind,
        )


class Egress:
    """A client that connects only to addresses that the policy allows.

    All threads share its pooled connections. After a fork, the child opens new ones.

    Args:
        policy: the allowed addresses.
        ca_file: PEM file of authorities that are trusted in addition to the public ones.
    """

    def __init__(self, policy: Policy, *, ca_file: str | None = None) -> None:
        self.policy = policy
        self._context = build_tls_context(ca_file)
        self._pooled: tuple[int, GuardedAdapter | None] = (0, None)

    def check_url(self, url: str) -> None:
        """Check a URL before it is stored. It is checked again at every request.

        Raises:
            EgressRefused: its scheme, user name, port or address is not allowed.
        """
        self.resolve_address(*check_target(self.policy, url))

    def resolve_address(
        self, host: str, port: int, *, timeout: float = _LOOKUP_SECONDS
    ) -> tuple[str, int]:
        """Return the numeric address and port of a host, for clients that do not use HTTP.

        Args:
            host: name or address of the host.
            port: port to connect to.
            timeout: limit of the DNS lookup in seconds.

        Raises:
            EgressRefused: the host has no address, or one that is not allowed.
        """
        try:
            address = resolve(self.policy, host, port, timeout)[0].address
        except ResolutionFailed:
            raise EgressRefused("the host name does not resolve") from None
        return address[0], address[1]

    def connect(self, host: str, port: int, *, timeout: float) -> socket.socket:
        """Return a connected TCP socket, for protocols other than HTTP.

        Args:
            host: name or address of the host.
            port: port to connect to.
            timeout: limit in seconds of the DNS lookup and the connection together. It is also the
                timeout of the socket.

        Raises:
            EgressRefused: the host has no address, or one that is not allowed.
            OSError: the connection failed.
        """
        try:
            return connect(self.policy, host, port, timeout)
        except ResolutionFailed as failure:
            if failure.timed_out:
                raise TimeoutError("the name was not resolved in time") from None
            raise EgressRefused("the host name does not resolve") from None

    def request(
        self,
        method: str,
        url: str,
        *,
        headers: Mapping[str, str] | None = None,
        body: bytes = b"",
        deadline: float = 10.0,
        max_response_bytes: int = 16_384,
        success_body_seconds: float = inf,
        repeatable: bool = True,
    ) -> Outcome:
        """Send one request and return its outcome. Redirects are not followed.

        `deadline` limits the whole request in seconds, including the DNS lookup. The body is cut
        off after `max_response_bytes`; reading it after a status of 2xx takes at most
        `success_body_seconds`. If `repeatable`, the request is sent again when a pooled connection
        breaks before the first byte of the response. Otherwise it is sent once, over a new
        connection or one that was used within the last second.

        Raises:
            ValueError: the method or a header is malformed, or the client sets the header itself.
        """
        started, received = monotonic(), _Received()
        prepared = _prepare_request(method, headers or {}, body)
        error: str | None = None
        kind: ErrorKind | None = None
        max_bytes = max_response_bytes * _FRAME_FACTOR + _HEADER_BYTES
        call = Call(self.policy, started + deadline, max_bytes, repeatable)
        try:
            response = self._open(prepared, url, call, received)
            if received.is_success:
                call.shorten_deadline(success_body_seconds)
            _read_body(response, call, max_response_bytes, received)
        except Exception as failure:  # noqa: BLE001 - hostile responses may raise any exception
            kind, error = classify(failure)
            log.debug("egress.failed", kind=kind, error=repr(failure))
        return received.as_outcome(monotonic() - started, error, kind)

    def session(
        self, *, deadline: float = 30.0, max_response_bytes: int = 16 * 1024 * 1024
    ) -> requests.Session:
        """Return a session for libraries that need one, with the same policy.

        Its requests raise `EgressRefused` or the exceptions of `requests`. It follows no redirects,
        keeps no cookies and decompresses nothing.

        Args:
            deadline: limit in seconds for a request and its response; may be infinite.
            max_response_bytes: size beyond which a response fails.
        """
        session = _Session()

        def build_call() -> Call:
            return Call(self.policy, monotonic() + deadline, max_response_bytes + _HEADER_BYTES)

        for scheme in ("https://", "http://"):
            session.mount(scheme, GuardedAdapter(build_call, self._context))
        return session

    @property
    def _adapter(self) -> GuardedAdapter:
        pid, adapter = self._pooled
        if adapter is None or pid != os.getpid():
            adapter = GuardedAdapter(lambda: Call(self.policy), self._context)
            self._pooled = (os.getpid(), adapter)
        return adapter

    def _open(
        self, prepared: PreparedRequest, url: str, call: Call, received: _Received
    ) -> Response:
        """Send the request and read the head of the response, but not the body."""
        check_target(self.policy, url)
        prepared.prepare_url(url, None)
        response = self._send(prepared, call)
        received.status_code = response.status_code
        received.headers = {name.lower(): value for name, value in response.headers.items()}
        return response

    def _send(self, prepared: PreparedRequest, call: Call) -> Response:
        adapter = self._adapter
        try:
            return adapter.send_call(prepared, call, timeout=call.remaining())
        except (RequestException, OSError):
            if not call.may_repeat():
                raise
        call.needs_new_connection = True
        return adapter.send_call(prepared, call, timeout=call.remaining())


class _Session(requests.Session):
    """A session that ignores the environment, and sends no requests or cookies on its own."""

    def __init__(self) -> None:
        super().__init__()
        self.trust_env = False
        self.cookies.set_policy(DefaultCookiePolicy(allowed_domains=[]))
        self.headers["User-Agent"] = USER_AGENT
        self.headers["Accept-Encoding"] = "identity"

    def resolve_redirects(self, *_: object, **__: object) -> Iterator[Response]:
        return iter(())


def _prepare_request(method: str, headers: Mapping[str, str], body: bytes) -> PreparedRequest:
    if not re.fullmatch(r"[A-Z]{1,20}", method):
        raise ValueError("the method must consist of capital letters")
    if reserved := _RESERVED & {name.lower() for name in headers}:
        raise ValueError(f"these headers are set automatically: {', '.join(sorted(reserved))}")
    prepared = PreparedRequest()
    prepared.prepare_method(method)
    prepared.prepare_headers({"User-Agent": USER_AGENT, **headers, "Accept-Encoding": "identity"})
    prepared.prepare_cookies({})
    prepared.prepare_body(body, None)
    prepared.prepare_hooks({})
    return prepared


def _read_body(response: Response, call: Call, limit: int, received: _Received) -> None:
    """Read the body up to the limit. The connection is reused only if the body was complete."""
    with calling(call):
        try:
            # The read after the last bytes raises if the body is incomplete.
            while len(received.body) < limit and (
                data := response.raw.read(limit - len(received.body), decode_content=False)
            ):
                received.body += data
        finally:
            # After a complete body the connection is already back in its pool.
            response.raw.close()
