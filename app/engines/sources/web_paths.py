"""Convert between the URLs of a web server and the paths of a source.

With an index page, a path is the decoded part of the URL below the folder of that page; a query
stays encoded after a `?`. With a list of URLs, a path begins with the host. The path contains no
query, because a query may contain a signature; a digest distinguishes URLs that differ only in the
query.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from hashlib import sha256
from typing import NamedTuple
from urllib.parse import quote, quote_from_bytes, unquote_to_bytes, urljoin, urlsplit

from app.engines.sources.folders import FolderItem
from app.engines.sources.limits import MAX_NAME_BYTES
from app.engines.sources.model import HostError, HostErrorKind
from app.engines.sources.paths import decode_path, encode_name, is_valid_name

_SAFE_CHARS = "-_.~!$&'()*+,;=:@"
_DIGEST_CHARS = 16
_DEFAULT_PORTS = {"http": 80, "https": 443}
Origin = tuple[str, str, int]


class Site(NamedTuple):
    """The documents of a web server.

    Attributes:
        index_url: URL of the index page, or an empty string.
        base_url: URL of the folder of the index page, with a trailing slash, or an empty string.
        urls_by_path: the listed URLs, if there is no index page.
        origin: scheme, host and port of all URLs, or None if they differ.
    """

    index_url: str
    base_url: str
    urls_by_path: Mapping[str, str]
    origin: Origin | None

    @property
    def has_index(self) -> bool:
        """Return whether there is an index page."""
        return bool(self.index_url)

    def has_origin(self, url: str) -> bool:
        """Return whether a URL belongs to the origin to which credentials are sent."""
        return self.origin is not None and _parse_origin(url) == self.origin

    def find_url(self, path: str) -> str | None:
        """Return the URL of a document, or None if its path is invalid or not listed."""
        if not self.has_index:
            return self.urls_by_path.get(path)
        folder, separator, query = path.partition("?")
        url = self._build_url(folder)
        query = _encode_query(query)
        return f"{url}{separator}{query}" if url and not folder.endswith("/") else None

    def find_folder_url(self, path: str) -> str | None:
        """Return the URL of a folder, or None if the path is invalid."""
        if not path:
            return self.index_url
        url = self._build_url(path)
        return f"{url}/" if url else None

    def list_items(self, path: str) -> Iterator[FolderItem]:
        """Yield the items in a folder of a site without an index page."""
        prefix = f"{path}/" if path else ""
        for document_path in self.urls_by_path:
            if document_path.startswith(prefix):
                name, separator, _ = document_path.removeprefix(prefix).partition("/")
                yield FolderItem(name, is_folder=bool(separator))

    def build_item(self, link: str, path: str) -> FolderItem | None:
        """Build the item for a link in the page of the folder at `path`.

        Returns None if the link is too long, or if it leads to the index page or to anything but a
        document or subfolder directly in the folder.
        """
        folder = f"{self._build_url(path)}/" if path else self.base_url
        try:
            parts = urlsplit(link)
            has_same_origin = _parse_origin(link) == _parse_origin(folder)
        except ValueError:
            return None
        start = urlsplit(folder).path
        if not has_same_origin or not parts.path.startswith(start) or len(link) > MAX_NAME_BYTES:
            return None
        name, slash, subpath = parts.path.removeprefix(start).partition("/")
        is_folder = bool(slash)
        # Skip links to another sort order of this folder, and to pages in deeper folders.
        if not is_valid_name(unquote_to_bytes(name)) or subpath or (is_folder and parts.query):
            return None
        if parts._replace(query="", fragment="").geturl() == self.index_url:
            return None
        item_name = _encode_segment(name)
        if parts.query:
            item_name = f"{item_name}?{_encode_query(parts.query)}"
        return FolderItem(item_name, is_folder=is_folder)

    def _build_url(self, path: str) -> str | None:
        names = [decode_path(segment) for segment in path.split("/")]
        if not all(is_valid_name(name) for name in names):
            return None
        return self.base_url + "/".join(quote_from_bytes(name, safe=_SAFE_CHARS) for name in names)


def build_site(url: str | None, urls: Iterable[str]) -> Site:
    """Build the site for an index page, or for a list of URLs.

    Raises HostError if a URL is invalid.
    """
    try:
        if url:
            # The path is normalized, so that links can be compared with it.
            index_url = normalize_url(url)
            base_url = urljoin(index_url, ".").partition("?")[0]
            return Site(index_url, base_url, {}, _parse_origin(index_url))
        urls_by_path = _index_by_path(sorted(map(normalize_url, urls)))
        origins = {_parse_origin(document_url) for document_url in urls_by_path.values()}
    except ValueError:
        message = "`url`, or one of `urls`, is not a valid HTTP URL."
        raise HostError(HostErrorKind.PROTOCOL, message) from None
    return Site("", "", urls_by_path, origins.pop() if len(origins) == 1 else None)


def normalize_url(url: str) -> str:
    """Normalize a URL: encode its path and query. Raises ValueError if it is not an HTTP URL."""
    parts = urlsplit(url.strip())
    if parts.scheme not in _DEFAULT_PORTS or not parts.hostname or "@" in parts.netloc:
        raise ValueError("not an HTTP URL")
    path = quote(parts.path or "/", safe=f"/%{_SAFE_CHARS}")
    return parts._replace(path=path, query=_encode_query(parts.query), fragment="").geturl()


def _parse_origin(url: str) -> Origin:
    parts = urlsplit(url)
    return parts.scheme, parts.hostname or "", parts.port or _DEFAULT_PORTS.get(parts.scheme, 0)


def _index_by_path(urls: Sequence[str]) -> dict[str, str]:
    """Map the paths of sorted URLs to the URLs.

    If a URL is listed with HTTP and with HTTPS, the path maps to the URL with HTTPS.
    """
    urls_by_path_and_query: dict[str, dict[str, str]] = {}
    for url in urls:
        urls_by_path_and_query.setdefault(_build_path(url), {})[urlsplit(url).query] = url
    urls_by_path: dict[str, str] = {}
    for path, same_path_urls in urls_by_path_and_query.items():
        for query, url in same_path_urls.items():
            is_unique = len(same_path_urls) == 1 or not query
            urls_by_path[path if is_unique else f"{path}?{_compute_digest(query)}"] = url
    return urls_by_path


def _compute_digest(query: str) -> str:
    return sha256(query.encode()).hexdigest()[:_DIGEST_CHARS]


def _build_path(url: str) -> str:
    """Build the path of a listed URL, without its query."""
    parts = urlsplit(url)
    segments = [_encode_segment(segment) for segment in parts.path.split("/") if segment]
    return "/".join([encode_name(parts.netloc.encode()), *segments])


def _encode_segment(segment: str) -> str:
    return encode_name(unquote_to_bytes(segment), reserved="?")


def _encode_query(query: str) -> str:
    return quote(query, safe=f"%?{_SAFE_CHARS}").replace("/", "%2F")
