"""Outcomes of outbound requests, and the classification of failures."""

import ssl
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

import urllib3
from requests import exceptions as requests_exceptions

from app.kit.egress.policy import EgressRefused
from app.kit.egress.resolve import ResolutionFailed
from app.kit.egress.sockets import ResponseTooLarge


class ErrorKind(StrEnum):
    """The reason why a request failed, or the stage at which it failed."""

    REFUSED_ADDRESS = "refused_address"
    DNS = "dns"
    CONNECT = "connect"
    TLS = "tls"
    TIMEOUT = "timeout"
    PROTOCOL = "protocol"


@dataclass(slots=True)
class RequestOutcome:
    """The outcome of a request: the response, or the reason for the failure.

    The client fills it in while the response arrives. `status_code` is None if no status line was
    received. If `status_code` and `error` are both set, the response was interrupted after its
    headers. Names in `headers` are in lower case. `body` is never decompressed, and is cut off at
    the maximum size. `error` is a short sentence that reveals nothing about the internal network.
    """

    status_code: int | None = None
    headers: Mapping[str, str] = field(default_factory=dict)
    body: bytes = b""
    duration_ms: int = 0
    error: str | None = None
    error_kind: ErrorKind | None = None

    @property
    def is_complete_success(self) -> bool:
        """Return whether a complete response with a status of 2xx was received."""
        return self.error_kind is None and self.is_success

    @property
    def is_success(self) -> bool:
        """Return whether the status is 2xx, even if the body is incomplete."""
        return (self.status_code or 0) // 100 == 2  # noqa: PLR2004

    @property
    def is_redirect(self) -> bool:
        """Return whether the status is 3xx."""
        return (self.status_code or 0) // 100 == 3  # noqa: PLR2004


Failure = tuple[ErrorKind, str]

_TIMEOUT_ERRORS = (
    TimeoutError,
    requests_exceptions.Timeout,
    urllib3.exceptions.TimeoutError,
)


def classify(error: BaseException) -> Failure:
    """Classify an exception by its type and causes, and return an error kind and a message."""
    chain = _list_causes(error)
    for match_failure in (_match_known_error, _match_timeout, _match_connection_error):
        for cause in chain:
            if failure := match_failure(cause):
                return failure
    return ErrorKind.PROTOCOL, "the response is not valid HTTP"


def _match_known_error(error: BaseException) -> Failure | None:
    match error:
        case EgressRefused():
            return ErrorKind.REFUSED_ADDRESS, error.reason
        case ResolutionFailed(timed_out=False):
            return ErrorKind.DNS, "the host name does not resolve"
        case ssl.SSLCertVerificationError():
            return ErrorKind.TLS, f"the certificate is not valid: {error.verify_message}"
        case ResponseTooLarge():
            return ErrorKind.PROTOCOL, "the response is too large"
    return None


def _match_timeout(error: BaseException) -> Failure | None:
    # In urllib3, NewConnectionError (a failed connection) is a subclass of a timeout error.
    if isinstance(error, (ResolutionFailed, *_TIMEOUT_ERRORS)) and not isinstance(
        error, urllib3.exceptions.NewConnectionError
    ):
        return ErrorKind.TIMEOUT, "no complete response was received in time"
    return None


def _match_connection_error(error: BaseException) -> Failure | None:
    match error:
        case ssl.SSLError() | urllib3.exceptions.SSLError():
            return ErrorKind.TLS, "no secure connection could be established"
        case urllib3.exceptions.NewConnectionError():
            return ErrorKind.CONNECT, "the connection could not be established"
        case ConnectionError():
            return ErrorKind.PROTOCOL, "the connection was closed before the response was complete"
    return None


def _list_causes(error: BaseException) -> list[BaseException]:
    """Return the exception, followed by all exceptions in its cause, `reason` or arguments."""
    causes: list[BaseException] = []
    pending: list[object] = [error]
    while pending:
        item = pending.pop(0)
        if isinstance(item, BaseException) and not any(item is cause for cause in causes):
            causes.append(item)
            pending += [item.__cause__, getattr(item, "reason", None), *item.args]
    return causes
