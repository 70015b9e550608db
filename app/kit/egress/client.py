"""The HTTP client for other hosts. It limits time, response size and allowed addresses."""

import os
import re
import socket
from collections.abc import Iterator, Mapping
from contextlib import nullcontext
from http.cookiejar import DefaultCookiePolicy
from math import inf
from time import monotonic

import requests
from requests import PreparedRequest, Response
from requests.exceptions import RequestException

from app.kit import release
from app.kit.egress.connections import GuardedAdapter, build_tls_context, check_target
from app.kit.egress.outcome import RequestOutcome, classify
from app.kit.egress.policy import EgressRefused, Policy
from app.kit.egress.resolve import LookupLimiter, ResolutionFailed, resolve
from app.kit.egress.sockets import Call, connect, set_current_call
from app.kit.logging import get_logger

log = get_logger("app.egress")

USER_AGENT = release.NAME
_LOOKUP_SECONDS = 5.0
# The limit on received bytes must also allow for the headers, and for the framing of chunks, which
# can take five bytes for each byte of the body.
_FRAME_FACTOR = 8
_MAX_HEADER_BYTES = 256 * 1024
_RESERVED_HEADERS = frozenset({"host", "content-length", "transfer-encoding", "accept-encoding"})


class Egress:
    """An HTTP client that connects only to addresses that the policy allows.

    All threads share its pooled connections. After a fork, the child opens new connections.

    Args:
        policy: the allowed addresses.
        ca_file: PEM file with certificate authorities to trust in addition to public authorities.
    """

    def __init__(self, policy: Policy, *, ca_file: str | None = None) -> None:
        self.policy = policy
        self._context = build_tls_context(ca_file)
        self._pid_and_adapter: tuple[int, GuardedAdapter | None] = (0, None)

    def check_url(self, url: str, *, lookup_limiter: LookupLimiter = nullcontext) -> None:
        """Check a URL before it is stored. Every request checks its URL again.

        `lookup_limiter` limits concurrent DNS lookups (see `resolve`).

        Raises:
            EgressRefused: the URL or its address is not allowed, or its host name does not resolve.
        """
        self.resolve_address(*check_target(self.policy, url), lookup_limiter=lookup_limiter)

    def resolve_address(
        self,
        host: str,
        port: int,
        *,
        timeout: float = _LOOKUP_SECONDS,
        lookup_limiter: LookupLimiter = nullcontext,
    ) -> tuple[str, int]:
        """Return the numeric address and port of a host, for clients of any protocol.

        Args:
            host: name or address of the host.
            port: port to connect to.
            timeout: timeout in seconds for the DNS lookup.
            lookup_limiter: limits concurrent DNS lookups (see `resolve`).

        Raises:
            EgressRefused: no address was found in time, or an address is not allowed.
        """
        try:
            address = resolve(self.policy, host, port, timeout, lookup_limiter)[0].address
        except ResolutionFailed:
            raise EgressRefused("the host name does not resolve") from None
        return address[0], address[1]

    def connect(self, host: str, port: int, *, timeout: float) -> socket.socket:
        """Return a connected TCP socket, for protocols other than HTTP.

        Args:
            host: name or address of the host.
            port: port to connect to.
            timeout: timeout in seconds for the DNS lookup and the connection together, and then
                for each operation of the socket.

        Raises:
            EgressRefused: the host has no address, or has an address that is not allowed.
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
        total_timeout: float = 10.0,
        max_response_bytes: int = 16_384,
        success_body_seconds: float = inf,
        repeatable: bool = True,
    ) -> RequestOutcome:
        """Send one request and return its outcome. Redirects are not followed.

        `total_timeout` is the limit in seconds for the whole request and its DNS lookup. The
        response body is cut off after `max_response_bytes`. If the status is 2xx, reading the body
        takes at most `success_body_seconds`. If `repeatable`, the request is sent again when a
        pooled connection breaks before the first byte of the response. Otherwise it is sent only
        once, over a new connection or a connection that was used within the last second.

        Raises:
            ValueError: the method or a header is malformed, or a header is reserved, such as Host.
        """
        started_at = monotonic()
        prepared = _prepare_request(method, headers or {}, body)
        max_bytes = max_response_bytes * _FRAME_FACTOR + _MAX_HEADER_BYTES
        call = Call(self.policy, started_at + total_timeout, max_bytes, repeatable)
        outcome = RequestOutcome()
        try:
            response = self._send_request(prepared, url, call, outcome)
            if outcome.is_success:
                call.shorten_deadline(success_body_seconds)
            _read_body(response, call, max_response_bytes, outcome)
        except Exception as failure:  # noqa: BLE001 - hostile responses may raise any exception
            outcome.error_kind, outcome.error = classify(failure)
            log.debug("egress.failed", kind=outcome.error_kind, error=repr(failure))
        outcome.duration_ms = round((monotonic() - started_at) * 1000)
        return outcome

    def session(
        self,
        *,
        total_timeout: float = 30.0,
        max_response_bytes: int = 16 * 1024 * 1024,
        ends_at: float = inf,
    ) -> requests.Session:
        """Return a `requests` session with the same policy, for libraries that need a session.

        Its requests raise `EgressRefused` or exceptions from `requests`. The session follows no
        redirects, keeps no cookies and decompresses nothing.

        Args:
            total_timeout: timeout in seconds for a request and its response; may be infinite.
            max_response_bytes: maximum size of a response in bytes. A larger response raises an
                exception.
            ends_at: the `time.monotonic()` value at which all requests end.
        """
        session = _Session()

        def build_call() -> Call:
            call_deadline = min(monotonic() + total_timeout, ends_at)
            return Call(self.policy, call_deadline, max_response_bytes + _MAX_HEADER_BYTES)

        for scheme in ("https://", "http://"):
            session.mount(scheme, GuardedAdapter(build_call, self._context))
        return session

    @property
    def _adapter(self) -> GuardedAdapter:
        pid, adapter = self._pid_and_adapter
        if adapter is None or pid != os.getpid():
            adapter = GuardedAdapter(lambda: Call(self.policy), self._context)
            self._pid_and_adapter = (os.getpid(), adapter)
        return adapter

    def _send_request(
        self, prepared: PreparedRequest, url: str, call: Call, outcome: RequestOutcome
    ) -> Response:
        """Send the request, and read the status and the headers of the response."""
        check_target(self.policy, url)
        prepared.prepare_url(url, None)
        response = self._send_with_retry(prepared, call)
        outcome.status_code = response.status_code
        outcome.headers = {name.lower(): value for name, value in response.headers.items()}
        return response

    def _send_with_retry(self, prepared: PreparedRequest, call: Call) -> Response:
        adapter = self._adapter
        try:
            return adapter.send_call(prepared, call, timeout=call.get_remaining())
        except (RequestException, OSError):
            if not call.may_repeat():
                raise
        call.needs_new_connection = True
        return adapter.send_call(prepared, call, timeout=call.get_remaining())


class _Session(requests.Session):
    """A session that ignores the environment, follows no redirects and keeps no cookies."""

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
    if reserved := _RESERVED_HEADERS & {name.lower() for name in headers}:
        raise ValueError(f"these headers are set automatically: {', '.join(sorted(reserved))}")
    prepared = PreparedRequest()
    prepared.prepare_method(method)
    prepared.prepare_headers({"User-Agent": USER_AGENT, **headers, "Accept-Encoding": "identity"})
    prepared.prepare_cookies({})
    prepared.prepare_body(body, None)
    prepared.prepare_hooks({})
    return prepared


def _read_body(response: Response, call: Call, limit: int, outcome: RequestOutcome) -> None:
    """Read at most `limit` bytes of the body. The connection is closed if the body is longer."""
    with set_current_call(call):
        try:
            # The read after the last bytes raises if the body is incomplete.
            while len(outcome.body) < limit and (
                data := response.raw.read(limit - len(outcome.body), decode_content=False)
            ):
                outcome.body += data
        finally:
            # After a complete body the connection is already back in its pool.
            response.raw.close()
