"""Deliver files to a web server with PUT.

The server receives the digest of the content (RFC 9530) and may verify it. The file is
considered delivered when the server has received the whole file and responds with a 2xx status.
"""

import base64
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from http import HTTPStatus
from typing import Any
from urllib.parse import parse_qs, quote, urlsplit

from app.engines.destinations import limits
from app.engines.destinations.content import ProgressReporter, read_blocks, validate_name
from app.engines.destinations.failures import build_full_disk_error, build_large_file_error
from app.engines.destinations.http_upload import UploadBody, UploadRequest, is_success, send_upload
from app.engines.destinations.model import OutgoingFile
from app.engines.sources.http_client import build_authorization_header
from app.engines.sources.model import HostError, HostErrorKind, Network
from app.engines.sources.web_paths import normalize_url

_NAME_PLACEHOLDER = "{name}"
_REFUSALS_BY_STATUS: Mapping[int, tuple[HostErrorKind, str]] = {
    HTTPStatus.UNAUTHORIZED: (
        HostErrorKind.CREDENTIALS_REFUSED,
        "The host responds, but requires valid credentials; check the settings.",
    ),
    HTTPStatus.FORBIDDEN: (
        HostErrorKind.NOT_ALLOWED,
        "The host does not allow these credentials to write the file.",
    ),
    HTTPStatus.NOT_FOUND: (
        HostErrorKind.NOT_FOUND,
        "The folder in the URL does not exist on the host.",
    ),
    HTTPStatus.GONE: (
        HostErrorKind.NOT_FOUND,
        "The folder in the URL no longer exists on the host.",
    ),
    # WebDAV servers send this status if the folder does not exist.
    HTTPStatus.CONFLICT: (
        HostErrorKind.NOT_FOUND,
        "The host cannot store the file at this URL; check that its folder exists.",
    ),
    HTTPStatus.METHOD_NOT_ALLOWED: (
        HostErrorKind.NOT_ALLOWED,
        "The host does not accept files with PUT at this URL.",
    ),
    HTTPStatus.NOT_IMPLEMENTED: (
        HostErrorKind.NOT_ALLOWED,
        "The host does not accept files with PUT.",
    ),
}


def open_destination(settings: Mapping[str, Any], network: Network) -> "WebDestination":
    """Open a URL as a destination. Raises HostError if the URL is invalid."""
    url = str(settings["url"])
    _build_url(url, "file")
    return WebDestination(network, url, build_authorization_header(settings))


@dataclass(frozen=True, slots=True)
class WebDestination:
    """A URL to which files are sent; `{name}` in it is a placeholder for the name of the file.

    `authorization` is the value of the `Authorization` header, or None without credentials.
    """

    network: Network
    url: str
    authorization: str | None

    def send(self, file: OutgoingFile, on_progress: Callable[[int], None]) -> str:
        """Deliver a file, and return its URL without the query.

        Raises HostError if the file was not delivered.
        """
        validate_name(file.name)
        url = _build_url(self.url, file.name)
        progress = ProgressReporter(on_progress)
        body = UploadBody(read_blocks(file, limits.BLOCK_BYTES), file.size, progress)
        request = UploadRequest("PUT", url, self._build_headers(file), body)
        with send_upload(
            self.network, request, limits.compute_timeout_seconds(file.size)
        ) as response:
            if not is_success(response):
                raise _build_status_error(response.status_code)
        progress.finish()
        # The query may contain a signature or another secret.
        return urlsplit(url)._replace(query="").geturl()

    def close(self) -> None:
        """Do nothing: each request uses a separate connection."""

    def _build_headers(self, file: OutgoingFile) -> dict[str, str]:
        digest = base64.b64encode(bytes.fromhex(file.sha256)).decode()
        headers = {"Content-Type": file.media_type, "Content-Digest": f"sha-256=:{digest}:"}
        if self.authorization:
            headers["Authorization"] = self.authorization
        if parse_qs(urlsplit(self.url).query).keys() >= {"sv", "sig"}:
            # Azure Blob Storage, whose shared access signatures have these two parameters,
            # requires this header.
            headers["x-ms-blob-type"] = "BlockBlob"
        return headers


def _build_url(url: str, name: str) -> str:
    """Build a URL by inserting a file name into `url`. Raises HostError for an invalid `url`."""
    try:
        # Check before replacing the placeholder, because a file name must not determine the host.
        netloc = urlsplit(url).netloc
        if _NAME_PLACEHOLDER not in netloc:
            return normalize_url(url.replace(_NAME_PLACEHOLDER, quote(name, safe="")))
    except ValueError:
        pass
    message = "The URL is not valid, or its host contains `{name}`."
    raise HostError(HostErrorKind.PROTOCOL, message)


def _build_status_error(status: int) -> HostError:
    if refusal := _REFUSALS_BY_STATUS.get(status):
        return HostError(*refusal)
    if status == HTTPStatus.REQUEST_ENTITY_TOO_LARGE:
        return build_large_file_error()
    if status == HTTPStatus.INSUFFICIENT_STORAGE:
        return build_full_disk_error()
    if HTTPStatus.MULTIPLE_CHOICES <= status < HTTPStatus.BAD_REQUEST:
        message = (
            f"The host redirects to another address (HTTP status {status}). Redirects are not "
            "followed; enter the URL that receives the files."
        )
        return HostError(HostErrorKind.PROTOCOL, message)
    if status >= HTTPStatus.INTERNAL_SERVER_ERROR or status in (
        HTTPStatus.REQUEST_TIMEOUT,
        HTTPStatus.TOO_MANY_REQUESTS,
    ):
        message = f"The host temporarily cannot receive the file (HTTP status {status})."
        return HostError(HostErrorKind.UNREACHABLE, message)
    message = f"The host does not accept the file (HTTP status {status})."
    return HostError(HostErrorKind.PROTOCOL, message)
