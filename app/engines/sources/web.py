"""Read documents from a web server: the links in an index page, or a list of URLs."""

import hashlib
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from http import HTTPStatus
from typing import Any, NamedTuple
from urllib.parse import urljoin

from requests import Response

from app.engines.sources import limits
from app.engines.sources.folders import FolderItem, FolderSource
from app.engines.sources.http_client import (
    HttpClient,
    build_authorization_header,
    read_body,
    read_chunks,
)
from app.engines.sources.links import find_links
from app.engines.sources.model import HostError, HostErrorKind, Network, ObjectMissing, SourceObject
from app.engines.sources.web_paths import Site, build_site, normalize_url

_REDIRECT_STATUSES = frozenset({301, 302, 303, 307, 308})
_MAX_SIZE_DIGITS = 18  # the size fits into 64 bits
_MISSING_STATUSES = (HTTPStatus.NOT_FOUND, HTTPStatus.GONE)


def open_source(settings: Mapping[str, Any], network: Network) -> "WebSource":
    """Open an index page, or a list of URLs, as a source.

    Raises HostError if a URL is invalid, or if credentials would be sent to several origins.
    """
    site = build_site(settings.get("url"), settings.get("urls", ()))
    authorization = build_authorization_header(settings)
    if authorization and site.origin is None:
        message = "With credentials, all URLs must have the same scheme, host and port."
        raise HostError(HostErrorKind.NOT_ALLOWED, message)
    return WebSource(HttpClient(network), site, authorization)


class _DocumentMetadata(NamedTuple):
    version: str
    size: int | None
    modified_at: datetime | None


_UNREADABLE_METADATA = _DocumentMetadata("unreadable", None, None)
"""The metadata of a document that the host refuses to send. `open` then raises the error."""


@dataclass(frozen=True, slots=True)
class WebSource(FolderSource):
    """An index page or a list of URLs.

    `authorization` is the value of the `Authorization` header, which is only sent to the site's
    origin. It is None if there are no credentials.
    """

    client: HttpClient
    site: Site
    authorization: str | None

    @contextmanager
    def open(self, path: str) -> Iterator[Iterator[bytes]]:
        """Open a document to read it in chunks."""
        with self._request(self._find_url(path), is_document=True) as response:
            # The index page was read, or there are no credentials: other documents may be readable.
            may_read_others = self.site.has_index or self.authorization is None
            if response.status_code == HTTPStatus.UNAUTHORIZED and may_read_others:
                message = "The host requires other credentials for this document."
                raise HostError(HostErrorKind.NOT_ALLOWED, message)
            _check_status(response)
            yield read_chunks(response)

    def close(self) -> None:
        """Close all connections."""
        self.client.close()

    def _find_url(self, path: str) -> str:
        url = self.site.find_url(path)
        if url is None:
            raise ObjectMissing
        return url

    def _read_folder(self, path: str) -> Iterator[FolderItem]:
        if not self.site.has_index:
            yield from self.site.list_items(path)
            return
        url = self.site.find_folder_url(path)
        if url is None:
            raise ObjectMissing
        try:
            page, base_url, charset = self._fetch_page(url)
        except HostError as problem:
            if not path or problem.kind == HostErrorKind.UNREACHABLE:
                raise
            # A link that ends with a slash may not lead to a folder.
            raise ObjectMissing from None
        for link in find_links(page, base_url, charset):
            if item := self.site.build_item(link, path):
                yield item

    def _fetch_page(self, url: str) -> tuple[bytes, str, str | None]:
        """Fetch an HTML page; return its content, its URL after redirects, and its charset."""
        with self._request(url, is_document=False) as response:
            _check_status(response)
            media_type = response.headers.get("Content-Type", "").lower()
            if "html" not in media_type:
                raise HostError(HostErrorKind.PROTOCOL, "The index page is not an HTML page.")
            charset = response.encoding if "charset" in media_type else None
            return read_body(response), response.url, charset

    def _build_object(self, path: str, item: FolderItem) -> SourceObject | None:
        """Build a document with the metadata that the host sends in response to a request.

        Returns None if the document does not exist. If the request fails although the host is
        reachable, the document gets `_UNREADABLE_METADATA`, so that the listing continues.
        """
        del item
        try:
            metadata = self._fetch_metadata(path)
        except HostError as problem:
            if problem.kind == HostErrorKind.UNREACHABLE:
                raise
            metadata = _UNREADABLE_METADATA
        return SourceObject(path, *metadata) if metadata else None

    def _fetch_metadata(self, path: str) -> _DocumentMetadata | None:
        """Fetch the metadata of a document by HEAD, or by GET if HEAD does not return a version.

        Returns None if the document does not exist, and `_UNREADABLE_METADATA` if the host refuses
        to send it.
        """
        url = self._find_url(path)
        with self._request(url, method="HEAD", is_document=False) as response:
            metadata = _parse_metadata(response)
            if response.status_code in _MISSING_STATUSES:
                return None
            if response.status_code == HTTPStatus.FORBIDDEN:
                return _UNREADABLE_METADATA
            if response.status_code == HTTPStatus.OK and metadata.version:
                return metadata
        return self._fetch_metadata_by_content(url)

    def _fetch_metadata_by_content(self, url: str) -> _DocumentMetadata | None:
        """Fetch metadata from the response to a GET request.

        If the server sends no version, the digest of the content is used as the version. Returns
        None if the document does not exist, and `_UNREADABLE_METADATA` if the host refuses.
        """
        with self._request(url, is_document=True) as response:
            try:
                _check_status(response)
            except ObjectMissing:
                return None
            except HostError:
                return _UNREADABLE_METADATA
            metadata = _parse_metadata(response)
            if metadata.version:
                return metadata
            digest = hashlib.sha256()
            size = 0
            for chunk in read_chunks(response):
                digest.update(chunk)
                size += len(chunk)
        return _DocumentMetadata(digest.hexdigest(), size, None)

    @contextmanager
    def _request(self, url: str, *, is_document: bool, method: str = "GET") -> Iterator[Response]:
        """Send a request and follow redirects. Credentials are only sent to the site's origin."""
        for _ in range(limits.MAX_REDIRECTS + 1):
            headers = {"Accept": "*/*", "Accept-Encoding": "identity"}
            if self.authorization and self.site.has_origin(url):
                headers["Authorization"] = self.authorization
            with ExitStack() as stack:
                response = stack.enter_context(
                    self.client.request(url, headers, method=method, is_document=is_document)
                )
                location = response.headers.get("Location")
                if response.status_code not in _REDIRECT_STATUSES or location is None:
                    yield response
                    return
            url = _resolve_location(url, location)
        message = f"The host redirects more than {limits.MAX_REDIRECTS} times."
        raise HostError(HostErrorKind.PROTOCOL, message)


def _resolve_location(url: str, location: str) -> str:
    try:
        # `requests` decodes headers as Latin-1, but servers send UTF-8.
        return normalize_url(urljoin(url, location.encode("latin-1").decode("utf-8")))
    except ValueError:
        message = "The host redirects to an address that is not an HTTP URL."
        raise HostError(HostErrorKind.PROTOCOL, message) from None


def _check_status(response: Response) -> None:
    """Raise ObjectMissing or HostError if the response has no readable page or document."""
    status = response.status_code
    if status in _MISSING_STATUSES:
        raise ObjectMissing
    if status == HTTPStatus.UNAUTHORIZED:
        message = "The host requires valid credentials; check the settings."
        raise HostError(HostErrorKind.CREDENTIALS_REFUSED, message)
    if status == HTTPStatus.FORBIDDEN:
        message = "The host does not allow this service to read the page or document."
        raise HostError(HostErrorKind.NOT_ALLOWED, message)
    if status == HTTPStatus.TOO_MANY_REQUESTS or status >= HTTPStatus.INTERNAL_SERVER_ERROR:
        message = f"The host is temporarily unavailable (HTTP status {status})."
        raise HostError(HostErrorKind.UNREACHABLE, message)
    if status != HTTPStatus.OK:
        message = f"The host did not return the page or document (HTTP status {status})."
        raise HostError(HostErrorKind.PROTOCOL, message)
    if response.headers.get("Content-Encoding", "identity").lower() != "identity":
        message = "The host compresses its responses, although the request does not allow this."
        raise HostError(HostErrorKind.PROTOCOL, message)


def _parse_metadata(response: Response) -> _DocumentMetadata:
    length = response.headers.get("Content-Length", "")
    is_size = length.isascii() and length.isdigit() and len(length) <= _MAX_SIZE_DIGITS
    size = int(length) if is_size else None
    modified = response.headers.get("Last-Modified", "")
    version = response.headers.get("ETag", "") or (f"{length}-{modified}" if modified else "")
    return _DocumentMetadata(version[:255], size, _parse_time(modified))


def _parse_time(text: str) -> datetime | None:
    try:
        return parsedate_to_datetime(text).astimezone(UTC)
    except (ValueError, TypeError, OverflowError):
        return None
