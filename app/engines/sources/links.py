"""Find the links in an index page."""

from urllib.parse import urljoin

from lxml import etree  # type: ignore[import-untyped]

from app.engines.sources.model import HostError, HostErrorKind

_MAX_LINK_CHARS = 8 * 1024
_MAX_LINKS = 200_000
_MAX_TOTAL_CHARS = 32 * 1024 * 1024
"""The maximum total length of all absolute URLs. A long base URL can make short links long."""


class _LinkCollector:
    """A target for the HTML parser that collects links without building a tree."""

    def __init__(self, url: str) -> None:
        self._base_url = url
        self._urls: dict[str, None] = {}
        self._char_count = 0

    def start(self, tag: str, attributes: dict[str, str]) -> None:
        """Collect the link of an `a` element, or set the base URL from a `base` element."""
        link = attributes.get("href")
        if link is None or len(link) > _MAX_LINK_CHARS or tag not in ("a", "base") or self._is_full:
            return
        try:
            url = urljoin(self._base_url, link.strip()).partition("#")[0]
        except ValueError:
            return
        if tag == "base":
            self._base_url = url
        elif url not in self._urls:
            self._urls[url] = None
            self._char_count += len(url)

    def close(self) -> list[str] | None:
        """Return all links as absolute URLs, or None if they exceed a limit."""
        return None if self._is_full else list(self._urls)

    @property
    def _is_full(self) -> bool:
        return len(self._urls) > _MAX_LINKS or self._char_count > _MAX_TOTAL_CHARS


def find_links(page: bytes, url: str, charset: str | None) -> list[str]:
    """Return the links in an HTML page as absolute URLs without fragments.

    `charset` is the encoding of the page, if the host specifies it. Links that are too long are
    left out. Returns an empty list if the page cannot be parsed. Raises HostError if the links are
    too many, or too long in total.
    """
    if not page.strip():
        return []
    try:
        parser = etree.HTMLParser(target=_LinkCollector(url), no_network=True, encoding=charset)
    except LookupError:
        parser = etree.HTMLParser(target=_LinkCollector(url), no_network=True)
    try:
        links: list[str] | None = etree.fromstring(page, parser)
    except etree.LxmlError:
        return []
    if links is None:
        message = "The index page has too many links; divide it into smaller pages."
        raise HostError(HostErrorKind.PROTOCOL, message)
    return links
