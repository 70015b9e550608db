"""What became of a request: an answer, or a failure that is told by kind."""

import ssl
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

import urllib3
from requests import exceptions as requests_exceptions

from app.kit.egress.policy import EgressRefused
from app.kit.egress.resolve import ResolutionFailed
from app.kit.egress.sockets import TooMuch


class ErrorKind(StrEnum):
    """Where a request failed."""

    REFUSED_ADDRESS = "refused_address"
    DNS = "dns"
    CONNECT = "connect"
    TLS = "tls"
    TIMEOUT = "timeout"
    PROTOCOL = "protocol"


@dataclass(frozen=True, slots=True)
class Outcome:
    """One request, answered or failed.

    ``status_code`` is None when no status line came; with an error beside it the answer broke off
    after its headers. ``headers`` have lower-case names. ``body`` are the bytes as they were sent
    (never decompressed), cut at the limit. ``error`` is one short sentence that says nothing about
    the inside of the network.
    """

    status_code: int | None
    headers: Mapping[str, str]
    body: bytes
    duration_ms: int
    error: str | None = None
    error_kind: ErrorKind | None = None

    @property
    def ok(self) -> bool:
        """Whether a whole answer with a status of 2xx came."""
        return self.error_kind is None and self.is_success

    @property
    def is_success(self) -> bool:
        """Whether the status is 2xx, whatever became of the body."""
        return (self.status_code or 0) // 100 == 2  # noqa: PLR2004

    @property
    def is_redirect(self) -> bool:
        """Whether the status is 3xx."""
        return (self.status_code or 0) // 100 == 3  # noqa: PLR2004


Failure = tuple[ErrorKind, str]

_TIMEOUTS = (
    TimeoutError,
    requests_exceptions.Timeout,
    urllib3.exceptions.TimeoutError,
)


def failure(error: BaseException) -> Failure:
    """Return the kind and message for an exception, by it and by the exceptions it carries."""
    chain = _causes(error)
    for judge in (_known, _timed_out, _by_layer):
        for one in chain:
            if found := judge(one):
                return found
    return ErrorKind.PROTOCOL, "the answer is not valid HTTP"


def _known(error: BaseException) -> Failure | None:
    match error:
        case EgressRefused():
            return ErrorKind.REFUSED_ADDRESS, error.reason
        case ResolutionFailed(timed_out=False):
            return ErrorKind.DNS, "the host name does not resolve"
        case ssl.SSLCertVerificationError():
            return ErrorKind.TLS, f"the certificate is not valid: {error.verify_message}"
        case TooMuch():
            return ErrorKind.PROTOCOL, "the answer is too large"
    return None


def _timed_out(error: BaseException) -> Failure | None:
    # A refused connection is, oddly, a kind of timeout for urllib3.
    if isinstance(error, (ResolutionFailed, *_TIMEOUTS)) and not isinstance(
        error, urllib3.exceptions.NewConnectionError
    ):
        return ErrorKind.TIMEOUT, "no complete answer within the time allowed"
    return None


def _by_layer(error: BaseException) -> Failure | None:
    match error:
        case ssl.SSLError() | urllib3.exceptions.SSLError():
            return ErrorKind.TLS, "no secure connection could be agreed on"
        case urllib3.exceptions.NewConnectionError():
            return ErrorKind.CONNECT, "the connection was not accepted"
        case ConnectionError():
            return ErrorKind.PROTOCOL, "the connection was closed before the answer was complete"
    return None


def _causes(error: BaseException) -> list[BaseException]:
    """Yield the exception and those that it carries as cause, reason or argument."""
    found: list[BaseException] = []
    waiting: list[object] = [error]
    while waiting:
        one = waiting.pop(0)
        if isinstance(one, BaseException) and not any(one is other for other in found):
            found.append(one)
            waiting += [one.__cause__, getattr(one, "reason", None), *one.args]
    return found
