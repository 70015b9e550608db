"""Send HTTP requests through the sessions of a `Network`, and translate their errors."""

import base64
from collections.abc import Iterable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from ssl import SSLError
from typing import Any
from urllib.parse import urlsplit

import requests
import urllib3
from requests import Response

from app.engines.sources import limits
from app.engines.sources.failures import build_connection_error
from app.engines.sources.model import HostError, HostErrorKind, Network


class HttpClient:
    """Sends HTTP requests without following redirects, and without cookies or retries."""

    def __init__(self, network: Network) -> None:
        self._listing_session = network.session(
            total_timeout=limits.OPERATION_SECONDS, max_response_bytes=limits.MAX_LISTING_BYTES
        )
        self._document_session = network.session(
            total_timeout=limits.READ_SECONDS, max_response_bytes=limits.MAX_DOCUMENT_BYTES
        )

    def request(
        self, url: str, headers: Mapping[str, str], *, method: str = "GET", is_document: bool
    ) -> AbstractContextManager[Response]:
        """Send a request and yield the response before its body is read (see `send_request`).

        If `is_document` is true, the limits for documents apply instead of those for listings.
        """
        session = self._document_session if is_document else self._listing_session
        return send_request(session, url, headers, method=method)

    def close(self) -> None:
        """Close all connections."""
        self._listing_session.close()
        self._document_session.close()


@contextmanager
def send_request(
    session: requests.Session,
    url: str,
    headers: Mapping[str, str],
    *,
    method: str,
    body: Iterable[bytes] | None = None,
    size: int = 0,
) -> Iterator[Response]:
    """Send a request, and yield the response before its body is read.

    `session` comes from `Network`, and refuses addresses that are not allowed. The path and the
    query of `url` are sent exactly as they are. `body` is sent in chunks after a `Content-Length`
    header with its `size` in bytes. Raises HostError if the URL is too long or the request fails.
    """
    if len(url) > limits.MAX_URL_CHARS:
        message = f"The name is too long: its URL has more than {limits.MAX_URL_CHARS} characters."
        raise HostError(HostErrorKind.NOT_ALLOWED, message)
    with translate_http_errors():
        prepared = session.prepare_request(requests.Request(method, url, headers=headers))
        # `requests` resolves `..` in paths, but in an object store `..` is a part of the name.
        original_url = urlsplit(url)
        prepared_url = urlsplit(prepared.url or "")
        prepared.url = prepared_url._replace(
            path=original_url.path, query=original_url.query
        ).geturl()
        if body is not None:
            # `requests` would send an iterator without its length.
            prepared.body = body  # type: ignore[assignment]  # the stubs omit iterators
            prepared.headers["Content-Length"] = str(size)
        timeouts = (limits.CONNECT_SECONDS, limits.IDLE_SECONDS)
        response = session.send(prepared, stream=True, allow_redirects=False, timeout=timeouts)
    try:
        yield response
    finally:
        response.close()


def build_authorization_header(settings: Mapping[str, Any]) -> str | None:
    """Build the value of the `Authorization` header for a `token`, or a `username` and `password`.

    Returns None if the settings contain no credentials.
    """
    if token := settings.get("token"):
        return f"Bearer {token}"
    if "username" not in settings:
        return None
    pair = f"{settings['username']}:{settings.get('password', '')}"
    return "Basic " + base64.b64encode(pair.encode("utf-8", "replace")).decode()


def normalize_endpoint(endpoint: str) -> str:
    """Return the URL of an endpoint without trailing slashes.

    Raises HostError if `endpoint` is not a valid URL.
    """
    try:
        urlsplit(endpoint)
    except ValueError:
        message = "`endpoint_url` is not a valid URL."
        raise HostError(HostErrorKind.PROTOCOL, message) from None
    return endpoint.rstrip("/")


def read_chunks(response: Response) -> Iterator[bytes]:
    """Yield a body in chunks, without decompressing it.

    Raises HostError if the body is incomplete, or if the host sends neither the size of the body
    nor a chunked body.
    """
    raw = response.raw
    # Without a length or chunked encoding, a lost connection looks like the end of the body.
    if raw.length_remaining is None and not getattr(raw, "chunked", False):
        message = "The host does not send the size of its responses, so they may be incomplete."
        raise HostError(HostErrorKind.PROTOCOL, message)
    while chunk := _read_chunk(raw):
        yield chunk


def _read_chunk(raw: urllib3.HTTPResponse) -> bytes:
    with translate_http_errors():
        return raw.read(limits.CHUNK_BYTES, decode_content=False)


def read_body(response: Response, limit: int = limits.MAX_LISTING_BYTES) -> bytes:
    """Return the whole body of a response that is not a document.

    Raises HostError if the body is incomplete or has more than `limit` bytes.
    """
    body = bytearray()
    for chunk in read_chunks(response):
        body += chunk
        if len(body) > limit:
            message = f"The response from the host has more than {limit} bytes."
            raise HostError(HostErrorKind.PROTOCOL, message)
    return bytes(body)


@contextmanager
def translate_http_errors() -> Iterator[None]:
    """Translate errors from the HTTP libraries and from the network guard to HostError."""
    try:
        yield
    except HostError:
        raise
    except Exception as error:  # noqa: BLE001 - the guard has its own exceptions
        raise _build_http_error(error) from None


def _build_http_error(error: Exception) -> HostError:
    causes = _list_causes(error)
    if tls_error := next((cause for cause in causes if isinstance(cause, SSLError)), None):
        return build_connection_error(tls_error)
    if any(isinstance(cause, urllib3.exceptions.NewConnectionError) for cause in causes):
        message = "The host does not exist, or it refuses connections on this port."
        return HostError(HostErrorKind.UNREACHABLE, message)
    timeouts = (TimeoutError, requests.exceptions.Timeout, urllib3.exceptions.TimeoutError)
    if any(isinstance(cause, timeouts) for cause in causes):
        message = "The host did not respond in time."
        return HostError(HostErrorKind.UNREACHABLE, message)
    if isinstance(error, requests.exceptions.InvalidURL | UnicodeError):
        return HostError(HostErrorKind.PROTOCOL, "The URL is not valid.")
    if isinstance(error, requests.RequestException | urllib3.exceptions.HTTPError | OSError):
        message = "The connection to the host failed, or was lost before the response was complete."
        return HostError(HostErrorKind.UNREACHABLE, message)
    message = "The operator of this service does not allow connections to this address."
    return HostError(HostErrorKind.NOT_ALLOWED, message)


def _list_causes(error: BaseException) -> list[BaseException]:
    causes: list[BaseException] = []
    pending_items: list[object] = [error]
    while pending_items:
        item = pending_items.pop()
        if isinstance(item, BaseException) and not any(item is cause for cause in causes):
            causes.append(item)
            pending_items += [item.__cause__, getattr(item, "reason", None), *item.args]
    return causes
