"""Read documents from a container of an object store, independently of the provider's API.

Object names, or keys, are bytes that may contain slashes. A folder is a common prefix of names.
"""

import re
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from datetime import datetime
from http import HTTPStatus
from itertools import accumulate
from typing import NamedTuple, TypeAlias
from urllib.parse import quote, urlencode

from cachetools.func import ttl_cache
from requests import Response

from app.engines.sources import limits
from app.engines.sources.endless_listings import EndlessListingDetector, build_endless_listing_error
from app.engines.sources.failures import build_missing_folder_error, build_protocol_error
from app.engines.sources.http_client import HttpClient, read_body, read_chunks
from app.engines.sources.model import (
    HostError,
    HostErrorKind,
    ListingPosition,
    Network,
    ObjectMissing,
    PathFilter,
    SourceEntry,
    SourceObject,
)
from app.engines.sources.paths import decode_path, encode_key

Parameters: TypeAlias = Mapping[str, str | bytes | None]
_UNRESERVED = frozenset(b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.-~")
"""The bytes that are not percent-encoded in URLs."""
_MAX_PARTS = 500_000
"""The maximum number of XML tags, attributes or values on a page; 1,000 objects have 20,000 tags
in total."""
# Some stores, and proxies in front of them, resolve these segments, even between backslashes.
_DOT_SEGMENTS = re.compile(rb"(?:^|[/\\])\.\.?(?:[/\\]|$)")


class StoredObject(NamedTuple):
    """An object in a container, as the store lists it; `size` is in bytes."""

    key: bytes
    version: str
    size: int
    modified_at: datetime | None


class ListingPage(NamedTuple):
    """A page of a listing. `token` requests the next page; it is None on the last page."""

    objects: list[StoredObject]
    folders: list[bytes]
    token: str | None


class ListingQuery(NamedTuple):
    """The selection of objects that a listing returns.

    Attributes:
        prefix: the prefix of the names.
        after: the name after which the listing starts, if the store supports this
            (`can_start_after`). Only the beginning of a long name is passed, so the caller must
            skip the objects up to the whole name.
        by_folder: whether names with another slash after the prefix are grouped into folders.
    """

    prefix: bytes
    after: bytes = b""
    by_folder: bool = False


class ObjectStore(ABC):
    """A container of an object store, accessed with signed requests.

    `listing_url` is the URL that lists the container, without its query.
    """

    can_start_after = True
    """Whether a listing can start after a name, which need not exist."""

    def __init__(self, network: Network, listing_url: str) -> None:
        self._client = HttpClient(network)
        self._listing_url = listing_url

    def list_page(self, query: ListingQuery, token: str | None) -> ListingPage:
        """Return the first page of a listing, or the page that `token` requests.

        Raises HostError if the request fails, or if the response is not a listing.
        """
        parameters = self._build_parameters(query, token)
        present_parameters = {
            name: value for name, value in parameters.items() if value is not None
        }
        url = f"{self._listing_url}?{urlencode(present_parameters, quote_via=quote)}"
        with self._request(url, is_document=False) as response:
            if response.status_code != HTTPStatus.OK:
                raise self.build_refusal_error(response)
            return self._parse_listing(read_body(response))

    def read(self, key: bytes) -> AbstractContextManager[Response]:
        """Request an object; the context yields the response, which may have any status."""
        return self._request(self._build_object_url(key), is_document=True)

    def close(self) -> None:
        """Close all connections."""
        self._client.close()

    def _request(self, url: str, *, is_document: bool) -> AbstractContextManager[Response]:
        signed_url, headers = self._sign(url)
        return self._client.request(signed_url, headers, is_document=is_document)

    @abstractmethod
    def build_refusal_error(self, response: Response) -> HostError:
        """Build the HostError for a response with an error status."""

    @abstractmethod
    def _build_parameters(self, query: ListingQuery, token: str | None) -> Parameters:
        """Build the query of a listing. Parameters that are None are not sent."""

    @abstractmethod
    def _parse_listing(self, body: bytes) -> ListingPage:
        """Parse a page of a listing. Raises HostError if the body is not a listing."""

    @abstractmethod
    def _build_object_url(self, key: bytes) -> str:
        """Build the URL of an object, with its key percent-encoded."""

    @abstractmethod
    def _sign(self, url: str) -> tuple[str, dict[str, str]]:
        """Return the URL and the headers for an authorized request to `url`."""


class ObjectStoreSource:
    """A container of an object store, or the `folder` in it unless `folder` is empty."""

    def __init__(self, store: ObjectStore, folder: str) -> None:
        self._store = store
        self._prefix = build_prefix(folder)

    def list_objects(
        self, after: str | None = None, path_filter: PathFilter | None = None
    ) -> Iterator[SourceObject | ListingPosition]:
        """Yield the documents after `after`, or all, and positions, in the store's order."""
        del path_filter  # a filter would not save requests
        start = self._prefix + decode_path(after) if after else b""
        for stored_objects in self._list_objects_after(start):
            for item in stored_objects:
                if self._is_document(item.key):
                    path = encode_key(item.key[len(self._prefix) :])
                    yield SourceObject(path, item.version, item.size, item.modified_at)
            last_key = stored_objects[-1].key if stored_objects else None
            if last_key is None or not self._is_document(last_key):
                yield ListingPosition(None if last_key is None else self._find_path(last_key))

    def _list_objects_after(self, start: bytes) -> Iterator[list[StoredObject]]:
        """Yield, for each page, its objects after the name `start`, possibly an empty list."""
        query = ListingQuery(self._prefix, after=_shorten_key(start))
        if start and not self._store.can_start_after:
            is_found = False
            deadline = time.monotonic() + limits.SKIP_SECONDS
            for page in self._list_pages(query):
                skipped_count = 0 if is_found else _count_up_to(page.objects, start)
                is_found = is_found or skipped_count > 0
                yield page.objects[skipped_count:] if is_found else []
                if not is_found and time.monotonic() > deadline:
                    raise build_endless_listing_error()
            if is_found:
                return
            # The object no longer exists, so its position is unknown and everything is listed.
            start = b""
        for page in self._list_pages(query):
            yield [item for item in page.objects if item.key > start]

    def _find_path(self, key: bytes) -> str | None:
        """Return the path of a key, or None if a listing cannot continue after this path."""
        is_inside = key.startswith(self._prefix) and len(key) <= limits.MAX_NAME_BYTES
        return encode_key(key[len(self._prefix) :]) or None if is_inside else None

    def browse(self, path: str, limit: int) -> list[SourceEntry]:
        """Browse a folder, and return at most `limit` of its entries, sorted by path."""
        folder = self._prefix + (decode_path(path) + b"/" if path else b"")
        entries: list[SourceEntry] = []
        is_empty = True
        for page in self._list_pages(ListingQuery(folder, by_folder=True)):
            is_empty = is_empty and not page.objects and not page.folders
            entries += self._build_entries(page)
            if len(entries) >= limit:
                break
        if path and is_empty:
            raise build_missing_folder_error()
        return sorted(entries, key=lambda entry: entry.path)[:limit]

    @contextmanager
    def open(self, path: str) -> Iterator[Iterator[bytes]]:
        """Open a document to read it in chunks."""
        key = self._prefix + decode_path(path)
        if not path or key.endswith(b"/"):
            raise ObjectMissing
        check_key(key)
        with self._store.read(key) as response:
            if response.status_code == HTTPStatus.NOT_FOUND:
                raise ObjectMissing
            if response.status_code != HTTPStatus.OK:
                raise self._store.build_refusal_error(response)
            yield read_chunks(response)

    def close(self) -> None:
        """Close all connections."""
        self._store.close()

    def _is_document(self, key: bytes) -> bool:
        # A name that ends with a slash is the placeholder of a folder, not a document.
        is_inside = key.startswith(self._prefix) and not key.endswith(b"/")
        return is_inside and len(key) <= limits.MAX_NAME_BYTES

    def _build_entries(self, page: ListingPage) -> Iterator[SourceEntry]:
        start = len(self._prefix)
        for folder in page.folders:
            name = folder[start:-1]
            # A folder with an empty name, between two slashes, cannot be opened.
            if folder.startswith(self._prefix) and name and not name.endswith(b"/"):
                yield SourceEntry(encode_key(name), is_folder=True)
        for item in page.objects:
            if self._is_document(item.key):
                path = encode_key(item.key[start:])
                yield SourceEntry(path, False, item.size, item.modified_at)  # noqa: FBT003

    def _list_pages(self, query: ListingQuery) -> Iterator[ListingPage]:
        is_sorted = self._store.can_start_after and not query.by_folder
        detector = EndlessListingDetector(is_sorted=is_sorted)
        token: str | None = None
        while True:
            page = self._store.list_page(query, token)
            yield page
            if page.token is None:
                return
            is_empty = not page.objects and not page.folders
            keys = [item.key for item in page.objects]
            detector.check(page.token, keys, is_empty=is_empty)
            token = page.token


def _shorten_key(key: bytes) -> bytes:
    """Shorten a key to a prefix that fits into the URL of a listing.

    The store then also lists names from the prefix up to the key, which the caller must skip.
    """
    lengths = accumulate(1 if byte in _UNRESERVED else len("%00") for byte in key)
    end = sum(length <= limits.MAX_START_CHARS for length in lengths)
    # Stores refuse a name that ends within the bytes of a character.
    while 0 < end < len(key) and key[end] & 0xC0 == 0x80:  # noqa: PLR2004 - the bits of UTF-8
        end -= 1
    return key[:end]


def _count_up_to(stored_objects: list[StoredObject], key: bytes) -> int:
    """Count the objects up to the object with this key, inclusive; 0 if there is no such object."""
    return next((count for count, item in enumerate(stored_objects, 1) if item.key == key), 0)


def build_prefix(folder: str) -> bytes:
    """Build the prefix of the names in a folder; it is empty for the whole container."""
    name = folder.strip("/").encode("utf-8", "replace")
    return name + b"/" if name else b""


def cache_credential(build: Callable[[], str], seconds: float) -> Callable[[], str]:
    """Return a function that returns a credential, and builds a new credential after `seconds`.

    Builds the first credential immediately, so that this function raises the errors of `build`.
    """
    get_credential = ttl_cache(maxsize=1, ttl=seconds, timer=time.time)(build)
    get_credential()
    return get_credential


def check_key(key: bytes) -> None:
    """Raise HostError if a host may confuse a key with another key."""
    if _DOT_SEGMENTS.search(key):
        message = "The name contains the segment `.` or `..`, which could lead to another document."
        raise HostError(HostErrorKind.NOT_ALLOWED, message)


def check_part_count(page: bytes, *separators: bytes) -> None:
    """Raise HostError if a page of a listing has too many parts to be parsed in memory.

    Parts are tags, attributes or values. A part takes a hundred bytes in memory, but as few as
    three on the page. Each of the `separators` marks the beginning or end of a part.
    """
    if any(page.count(separator) > _MAX_PARTS for separator in separators):
        raise build_protocol_error()
