"""Send a request, with or without a body, through a session of a `Network`."""

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from http import HTTPStatus
from typing import NamedTuple

from requests import Response

from app.engines.destinations import limits
from app.engines.destinations.content import ProgressReporter
from app.engines.sources.http_client import send_request
from app.engines.sources.model import HostError, HostErrorKind, Network


class _BodyFailed(Exception):  # noqa: N818 - names what happened
    """The body of a request could not be read, or its progress could not be reported."""


@dataclass(slots=True)
class UploadBody:
    """The body of one request, which can be read only once. `size` is its size in bytes.

    `failure` is the exception from reading the body or reporting the progress, or None.
    """

    blocks: Iterable[bytes]
    size: int
    progress: ProgressReporter
    sent_bytes: int = 0
    failure: Exception | None = None

    @property
    def is_sent(self) -> bool:
        """Return whether all bytes were sent."""
        return self.sent_bytes == self.size

    def __iter__(self) -> Iterator[bytes]:
        try:
            for block in self.blocks:
                yield block
                self.sent_bytes += len(block)
                self.progress.add(len(block))
        except Exception as error:  # noqa: BLE001 - raised again by `send_upload`
            # The HTTP libraries would treat an OSError as a connection error.
            self.failure = error
            raise _BodyFailed from None


class UploadRequest(NamedTuple):
    """A request with an optional body. `headers` must not contain `Content-Length`."""

    method: str
    url: str
    headers: Mapping[str, str]
    body: UploadBody | None = None


def is_success(response: Response) -> bool:
    """Return whether a response has a 2xx status."""
    return HTTPStatus.OK <= response.status_code < HTTPStatus.MULTIPLE_CHOICES


@contextmanager
def send_upload(network: Network, request: UploadRequest, seconds: float) -> Iterator[Response]:
    """Send a request, and yield the response before the response's body is read.

    The connection is used for this request only. `seconds` is the maximum time for the request and
    its response together. Raises HostError if the request failed, or if the host reports success
    before it has received the whole body of the request. Exceptions from reading this body or
    reporting the progress are raised unchanged.
    """
    session = network.session(total_timeout=seconds, max_response_bytes=limits.MAX_RESPONSE_BYTES)
    body = request.body
    size = 0 if body is None else body.size
    try:
        with send_request(
            session, request.url, request.headers, method=request.method, body=body, size=size
        ) as response:
            _check_body_is_sent(response, body)
            yield response
    except HostError:
        if body is not None and body.failure is not None:
            raise body.failure from None
        raise
    finally:
        session.close()


def _check_body_is_sent(response: Response, body: UploadBody | None) -> None:
    """Raise HostError if the host reports success before the whole body was sent."""
    if is_success(response) and body is not None and not body.is_sent:
        message = "The host responded before it had received the whole file."
        raise HostError(HostErrorKind.PROTOCOL, message)
