"""Find the links in an index page."""

from urllib.parse import urljoin

from lxml import etree  # type: ignore[import-untyped]

_MAX_LINK_CHARS = 8 * 1024


class _LinkCollector:
    """A target for the HTML parser that collects links without building a tree."""

    def __init__(self, url: str) -> None:
        self._base = url
        self._urls: dict[str, None] = {}

    def start(self, tag: str, attributes: dict[str, str]) -> None:
        """Collect the link of an `a` element, or set the base URL from a `base` element."""
        link = attributes.get("href")
        if link is None or len(link) > _MAX_LINK_CHARS or tag not in ("a", "base"):
            return
        try:
            url = urljoin(self._base, link.strip()).partition("#")[0]
        except ValueError:
            return
        if tag == "base":
            self._base = url
        else:
            self._urls[url] = None

    def close(self) -> list[str]:
        """Return all links as absolute URLs."""
        return list(self._urls)


def find_links(page: bytes, url: str, charset: str | None) -> list[str]:
    """Return the links in an HTML page as absolute URLs without fragments.

    Args:
        page: the HTML of the page.
        url: the URL of the page.
        charset: the encoding of the page, if the host specifies it.
    """
    if not page.strip():
        return []
    try:
        parser = etree.HTMLParser(target=_LinkCollector(url), no_network=True, encoding=charset)
    except LookupError:
        parser = etree.HTMLParser(target=_LinkCollector(url), no_network=True)
    try:
        links: list[str] = etree.fromstring(page, parser)
    except etree.LxmlError:
        return []
    return links
