"""Read EPUB (EPUB 3.3): the content documents in reading order, each on its own page."""

import posixpath
import zipfile
from collections.abc import Iterator
from typing import BinaryIO
from urllib.parse import unquote

from lxml import etree  # type: ignore[import-untyped]

from app.engines.documents.model import Limits, ParseFailed
from app.engines.documents.readers import html
from app.engines.documents.readers.archives import open_archive, parse_xml
from app.engines.documents.text import clean_text

_CONTAINER_PATH = "META-INF/container.xml"
_ENCRYPTION_PATH = "META-INF/encryption.xml"
_CONTAINER_NS = "{urn:oasis:names:tc:opendocument:xmlns:container}"
_PACKAGE_NS = "{http://www.idpf.org/2007/opf}"
_CIPHER_REFERENCE = "{http://www.w3.org/2001/04/xmlenc#}CipherReference"
_CONTENT_TYPES = ("application/xhtml+xml", "text/html")
_UNREADABLE = "The file is damaged or not an EPUB."


def extract_text(file: BinaryIO, limits: Limits) -> str:
    """Return the text of a book, with form feeds between its content documents.

    Raises `ParseFailed`.
    """
    with open_archive(file, limits, _UNREADABLE) as archive:
        pages = [
            html.extract_text(archive.read(path)).strip()
            for path in _iterate_content_paths(archive)
        ]
    return clean_text("\f".join(page for page in pages if page))


def _iterate_content_paths(archive: zipfile.ZipFile) -> Iterator[str]:
    """Yield the archive paths of the content documents in spine order."""
    container = parse_xml(archive.read(_CONTAINER_PATH))
    root_file = container.find(f".//{_CONTAINER_NS}rootfile")
    if root_file is None:
        raise ParseFailed("unreadable", _UNREADABLE)
    package_path = root_file.get("full-path", "")
    package = parse_xml(archive.read(package_path))
    encrypted_paths = _find_encrypted_paths(archive)
    items = {item.get("id"): item for item in package.iter(_PACKAGE_NS + "item")}
    for reference in package.iter(_PACKAGE_NS + "itemref"):
        item = items.get(reference.get("idref"))
        if item is None or item.get("media-type") not in _CONTENT_TYPES:
            continue
        path = _resolve_path(package_path, item)
        if path in encrypted_paths:
            message = "The book is copy-protected."
            raise ParseFailed("password_protected", message)
        if path in archive.NameToInfo:
            yield path


def _resolve_path(package_path: str, item: etree._Element) -> str:
    relative_path = unquote(item.get("href", "").partition("#")[0])
    return posixpath.normpath(posixpath.join(posixpath.dirname(package_path), relative_path))


def _find_encrypted_paths(archive: zipfile.ZipFile) -> set[str]:
    """Return the paths of the encrypted entries, which are often only fonts."""
    if _ENCRYPTION_PATH not in archive.NameToInfo:
        return set()
    references = parse_xml(archive.read(_ENCRYPTION_PATH)).iter(_CIPHER_REFERENCE)
    return {unquote(reference.get("URI", "")) for reference in references}
