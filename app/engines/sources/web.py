"""Documents on a web server, from the links of an index page or from a list of URLs."""

import hashlib
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from http import HTTPStatus
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import urljoin

from requests import Response

from app.engines.sources import limits
from app.engines.sources.failures import describe_missing_folder
from app.engines.sources.folders import Item, list_entries, list_tree
from app.engines.sources.http_client import (
    HttpClient,
    build_authorization,
    read_body,
    read_chunks,
)
from app.engines.sources.links import find_links
from app.engines.sources.model import (
    Entry,
    Network,
    ObjectMissing,
    SourceError,
    SourceErrorKind,
    SourceObject,
)
from app.engines.sources.web_paths import Site, build_site, normalize_url

_REDIRECTS = frozenset({301, 302, 303, 307, 308})
_MISSING_STATUSES = (HTTPStatus.NOT_FOUND, HTTPStatus.GONE)


def open_source(
    settings: Mapping[str, Any], network: Network, local_root: Path | None
) -> "WebSource":
    """Return the source for an index page or for a list of URLs."""
    del local_root
    site = build_site(settings.get("url"), settings.get("urls", ()))
    authorization = build_authorization(settings)
    if authorization and site.origin is None:
        message = "With credentials, all URLs must have the same scheme, host and port."
        raise SourceError(SourceErrorKind.NOT_ALLOWED, message)
    return WebSource(HttpClient(network), site, authorization)


class _Head(NamedTuple):
    version: str
    size: int | None
    modified_at: datetime | None


class WebSource:
    """An index page or a list of URLs.

    Args:
        client: sends the requests.
        site: converts between paths and URLs.
        authorization: the `Authorization` header, which is only sent to the site's origin, or None.
    """

    def __init__(self, client: HttpClient, site: Site, authorization: str | None) -> None:
        self._client = client
        self._site = site
        self._authorization = authorization

    def list_objects(self, after: str | None = None) -> Iterator[SourceObject]:
        """Yield all documents, sorted by the names in their paths.

        Asks the server for the version of each document.
        """
        try:
            for path, _ in list_tree(self._read_folder, after):
                if head := self._get_head(path):
                    yield SourceObject(path, *head)
        except ObjectMissing:
            raise describe_missing_folder() from None

    def browse(self, path: str, limit: int) -> list[Entry]:
        """Return at most `limit` entries of a folder."""
        try:
            return list_entries(self._read_folder, path, limit)
        except ObjectMissing:
            raise describe_missing_folder() from None

    @contextmanager
    def open(self, path: str) -> Iterator[Iterator[bytes]]:
        """Read a document in chunks."""
        with self._request(self._find_url(path), is_document=True) as response:
            _check_status(response)
            yield read_chunks(response)

    def close(self) -> None:
        """Close all connections."""
        self._client.close()

    def _find_url(self, path: str) -> str:
        url = self._site.find_url(path)
        if url is None:
            raise ObjectMissing
        return url

    def _read_folder(self, path: str) -> Iterator[Item]:
        if not self._site.is_index:
            yield from self._site.list_items(path)
            return
        url = self._site.find_folder_url(path)
        if url is None:
            raise ObjectMissing
        with self._request(url, is_document=False) as response:
            _check_status(response)
            media_type = response.headers.get("Content-Type", "").lower()
            if "html" not in media_type:
                message = "The index page, or a folder that it links to, is not an HTML page."
                raise SourceError(SourceErrorKind.PROTOCOL, message)
            charset = response.encoding if "charset" in media_type else None
            page = read_body(response)
        for link in find_links(page, response.url, charset):
            if item := self._site.build_item(link, path):
                yield item

    def _get_head(self, path: str) -> _Head | None:
        """Return version, size and time of a document, or None if it does not exist."""
        url = self._find_url(path)
        with self._request(url, method="HEAD", is_document=False) as response:
            head = _read_head(response)
            if response.status_code in _MISSING_STATUSES:
                return None
            if response.status_code == HTTPStatus.FORBIDDEN:
                # Opening this document reports the error; other documents can be read.
                return _Head("forbidden", None, None)
            if response.status_code == HTTPStatus.OK and head.version:
                return head
        return self._read_digest(url)

    def _read_digest(self, url: str) -> _Head | None:
        """Read a document for its version, which is the digest if the server sends no version."""
        with self._request(url, is_document=True) as response:
            try:
                _check_status(response)
            except ObjectMissing:
                return None
            head = _read_head(response)
            if head.version:
                return head
            digest = hashlib.sha256()
            size = 0
            for chunk in read_chunks(response):
                digest.update(chunk)
                size += len(chunk)
        return _Head(digest.hexdigest(), size, None)

    @contextmanager
    def _request(self, url: str, *, is_document: bool, method: str = "GET") -> Iterator[Response]:
        """Send a request and follow redirects. Credentials are sent to the site's origin only."""
        for _ in range(limits.MAX_REDIRECTS + 1):
            headers = {"Accept": "*/*", "Accept-Encoding": "identity"}
            if self._authorization and self._site.has_origin(url):
                headers["Authorization"] = self._authorization
            with ExitStack() as stack:
                response = stack.enter_context(
                    self._client.request(url, headers, method=method, is_document=is_document)
                )
                location = response.headers.get("Location")
                if response.status_code not in _REDIRECTS or location is None:
                    yield response
                    return
            url = _resolve_location(url, location)
        message = f"The host redirects more than {limits.MAX_REDIRECTS} times."
        raise SourceError(SourceErrorKind.PROTOCOL, message)


def _resolve_location(url: str, location: str) -> str:
    try:
        # `requests` reads headers as Latin-1; servers send UTF-8.
        return normalize_url(urljoin(url, location.encode("latin-1").decode("utf-8")))
    except ValueError:
        message = "The host redirects to an address that is not an HTTP URL."
        raise SourceError(SourceErrorKind.PROTOCOL, message) from None


def _check_status(response: Response) -> None:
    """Raise ObjectMissing or SourceError for a response that is not a document."""
    status = response.status_code
    if status in _MISSING_STATUSES:
        raise ObjectMissing
    if status == HTTPStatus.UNAUTHORIZED:
        message = "The host answers, but requires valid credentials; check the settings."
        raise SourceError(SourceErrorKind.CREDENTIALS_REFUSED, message)
    if status == HTTPStatus.FORBIDDEN:
        message = "The host does not allow this client to read the page."
        raise SourceError(SourceErrorKind.NOT_ALLOWED, message)
    if status == HTTPStatus.TOO_MANY_REQUESTS or status >= HTTPStatus.INTERNAL_SERVER_ERROR:
        message = f"The host cannot answer at the moment (HTTP status {status})."
        raise SourceError(SourceErrorKind.UNREACHABLE, message)
    if status != HTTPStatus.OK:
        message = f"The host does not send the page (HTTP status {status})."
        raise SourceError(SourceErrorKind.PROTOCOL, message)
    if response.headers.get("Content-Encoding", "identity").lower() != "identity":
        message = "The host compresses its answers although it was asked not to."
        raise SourceError(SourceErrorKind.PROTOCOL, message)


def _read_head(response: Response) -> _Head:
    length = response.headers.get("Content-Length", "")
    size = int(length) if length.isascii() and length.isdigit() else None
    modified = response.headers.get("Last-Modified", "")
    version = response.headers.get("ETag", "") or (f"{length}-{modified}" if modified else "")
    return _Head(version[:255], size, _parse_time(modified))


def _parse_time(text: str) -> datetime | None:
    try:
        return parsedate_to_datetime(text).astimezone(UTC)
    except (ValueError, TypeError, OverflowError):
        return None
