"""Define the XML names of OpenDocument files (ODF 1.3, part 3), and read parts of such files."""

import zipfile

from lxml import etree  # type: ignore[import-untyped]

from app.engines.documents.readers.archives import build_password_error, parse_xml

OPEN_DOCUMENT = "urn:oasis:names:tc:opendocument:xmlns:"
TEXT, TABLE, OFFICE, STYLE = (
    f"{{{OPEN_DOCUMENT}{name}:1.0}}" for name in ("text", "table", "office", "style")
)
_MANIFEST_PATH = "META-INF/manifest.xml"


def read_content(archive: zipfile.ZipFile) -> etree._Element:
    """Return the root of `content.xml`. Raises `ParseFailed` if the entries are encrypted."""
    if _MANIFEST_PATH in archive.NameToInfo and b"encryption-data" in archive.read(_MANIFEST_PATH):
        raise build_password_error()
    return parse_xml(archive.read("content.xml"))


def find_styles(
    root: etree._Element | None, properties_tag: str, name: str, value: str
) -> set[str]:
    """Return the names of the styles whose child `properties_tag` sets `name` to `value`."""
    return {
        properties.getparent().get(STYLE + "name")
        for properties in (() if root is None else root.iter(properties_tag))
        if properties.get(name) == value
    }


def read_count(value: str, limit: int) -> int:
    """Parse a count; return `limit` if the count is larger, or if `value` is not a number."""
    is_small = value.isdecimal() and len(value) <= len(str(limit))
    return min(int(value), limit) if is_small else limit
