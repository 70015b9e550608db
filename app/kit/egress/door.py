"""The door itself: requests to other hosts within limits of time, size and place."""

import os
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from http.cookiejar import DefaultCookiePolicy
from math import inf
from time import monotonic
from typing import Any

import requests
from requests import PreparedRequest, Response
from requests.exceptions import RequestException

from app.kit.egress.connections import GuardedAdapter, check_target, tls_context
from app.kit.egress.outcome import ErrorKind, Outcome, failure
from app.kit.egress.policy import EgressRefused, Policy
from app.kit.egress.resolve import ResolutionFailed, resolve
from app.kit.egress.sockets import Call, calling
from app.kit.logging import get_logger

log = get_logger("app.egress")

USER_AGENT = "labeling-service"
_LOOKUP_SECONDS = 5.0
# What may come off the wire beside the body that is kept: headers, and the frames of chunks, of
# which each byte may have five.
_FRAME_FACTOR = 8
_HEADER_BYTES = 256 * 1024
_RESERVED = frozenset({"host", "content-length", "transfer-encoding", "accept-encoding"})


@dataclass(slots=True)
class _Answer:
    """What came of an answer so far."""

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
    """Requests to addresses that the policy allows, and to no others.

    Connections are kept and used again, by any number of threads. After a fork a process has new
    ones.

    :param ca_file: authorities (PEM) trusted beside the public ones.
    """

    def __init__(self, policy: Policy, *, ca_file: str | None = None) -> None:
        self.policy = policy
        self._context = tls_context(ca_file)
        self._made: tuple[int, GuardedAdapter | None] = (0, None)

    def check_url(self, url: str) -> None:
        """Judge a URL before it is kept. It is judged again at every request.

        :raises EgressRefused: scheme, user name, port, or where the host leads.
        """
        self.guard_address(*check_target(self.policy, url))

    def guard_address(
        self, host: str, port: int, *, timeout: float = _LOOKUP_SECONDS
    ) -> tuple[str, int]:
        """Numeric address and port to connect to, for clients that do not speak HTTP.

        :param timeout: seconds that the name may take.
        :raises EgressRefused: the host has no address, or one that may not be reached.
        """
        try:
            address = resolve(self.policy, host, port, timeout)[0].address
        except ResolutionFailed:
            raise EgressRefused("the host name does not resolve") from None
        return address[0], address[1]

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
        """Send one request and return what became of it; a redirect is an answer like any other.

        :param deadline: seconds of wall-clock time for everything, name resolution included.
        :param max_response_bytes: the body is read no further.
        :param success_body_seconds: nor for longer than this after the headers of a 2xx answer.
        :param repeatable: when a kept connection breaks without a byte of an answer, the request is
            sent again. Otherwise it is sent once, over a new connection or one just used.
        :raises ValueError: a method that is none, headers malformed or not the caller's to set.
        """
        started, answer = monotonic(), _Answer()
        prepared = _prepare(method, headers or {}, body)
        error: str | None = None
        kind: ErrorKind | None = None
        budget = max_response_bytes * _FRAME_FACTOR + _HEADER_BYTES
        call = Call(self.policy, started + deadline, budget, repeatable)
        try:
            response = self._open(prepared, url, call, answer)
            if answer.is_success:
                call.shorten(success_body_seconds)
            _read(response, call, max_response_bytes, answer)
        except Exception as problem:  # noqa: BLE001 - hostile answers fail in unheard-of ways
            kind, error = failure(problem)
            log.debug("egress.failed", kind=kind, error=repr(problem))
        return answer.as_outcome(monotonic() - started, error, kind)

    def session(
        self, *, deadline: float = 30.0, max_response_bytes: int = 16 * 1024 * 1024
    ) -> requests.Session:
        """Return a session for libraries that need one; the same rules apply to its requests.

        Its requests raise `EgressRefused`, or what requests raises. No redirect is followed, no
        cookie kept, nothing compressed unpacked.

        :param deadline: seconds of wall-clock time for a request and its answer; may be infinite.
        :param max_response_bytes: an answer with more of them fails.
        """
        session = _Session()

        def limits() -> Call:
            return Call(self.policy, monotonic() + deadline, max_response_bytes + _HEADER_BYTES)

        for scheme in ("https://", "http://"):
            session.mount(scheme, GuardedAdapter(limits, self._context))
        return session

    @property
    def _adapter(self) -> GuardedAdapter:
        pid, adapter = self._made
        if adapter is None or pid != os.getpid():
            adapter = GuardedAdapter(lambda: Call(self.policy), self._context)
            self._made = (os.getpid(), adapter)
        return adapter

    def _open(self, prepared: PreparedRequest, url: str, call: Call, answer: _Answer) -> Response:
        """Send the request and read the answer's head; the body is not read yet."""
        check_target(self.policy, url)
        prepared.prepare_url(url, None)
        response = self._send(prepared, call)
        answer.status_code = response.status_code
        answer.headers = {name.lower(): value for name, value in response.headers.items()}
        return response

    def _send(self, prepared: PreparedRequest, call: Call) -> Response:
        adapter = self._adapter
        try:
            return adapter.send_call(prepared, call, timeout=call.remaining())
        except (RequestException, OSError):
            if not call.may_repeat():
                raise
        call.fresh = True
        return adapter.send_call(prepared, call, timeout=call.remaining())


class _Session(requests.Session):
    """A session that takes nothing from its surroundings and goes nowhere by itself."""

    def __init__(self) -> None:
        super().__init__()
        self.trust_env = False
        self.cookies.set_policy(DefaultCookiePolicy(allowed_domains=[]))
        self.headers["User-Agent"] = USER_AGENT
        self.headers["Accept-Encoding"] = "identity"

    def resolve_redirects(self, *_: Any, **__: Any) -> Iterator[Any]:
        return iter(())


def _prepare(method: str, headers: Mapping[str, str], body: bytes) -> PreparedRequest:
    if not re.fullmatch(r"[A-Z]{1,20}", method):
        raise ValueError("a method is a word of capital letters")
    if reserved := _RESERVED & {name.lower() for name in headers}:
        raise ValueError(f"not the caller's to set: {', '.join(sorted(reserved))}")
    prepared = PreparedRequest()
    prepared.prepare_method(method)
    prepared.prepare_headers({"User-Agent": USER_AGENT, **headers, "Accept-Encoding": "identity"})
    prepared.prepare_cookies({})
    prepared.prepare_body(body, None)
    prepared.prepare_hooks({})
    return prepared


def _read(response: Response, call: Call, limit: int, answer: _Answer) -> None:
    """Read the body up to the limit; keep the connection only if nothing is left on it."""
    with calling(call):
        try:
            # A body that broke off is noticed by the read after its last bytes.
            while len(answer.body) < limit and (
                data := response.raw.read(limit - len(answer.body), decode_content=False)
            ):
                answer.body += data
        finally:
            # Given back already when the body was complete, and otherwise of no more use.
            response.raw.close()
