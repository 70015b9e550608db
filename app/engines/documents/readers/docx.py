"""DOCX through python-docx: headers, body with tables in document order, notes, footers.

Paragraphs end with a line feed; the cells of a table row are parted by tabs, their paragraphs
by spaces. Deleted (tracked) text and field codes are left out; text boxes, content controls and
inserted text are in.
"""

import re
import zipfile
import zlib
from collections.abc import Iterable
from typing import Any, BinaryIO

import docx
from docx.opc.constants import CONTENT_TYPE, RELATIONSHIP_TYPE
from docx.opc.exceptions import OpcError
from docx.oxml import parse_xml
from lxml import etree  # type: ignore[import-untyped]

from app.engines.documents.model import Limits, ParseFailed
from app.engines.documents.text import clean

_MOST_ENTRIES = 10_000
_CHUNK = 1 << 16
_ENCRYPTED_FLAG = 0x1
_COMPOUND_FILE = bytes.fromhex("d0cf11e0a1b11ae1")
_ENCRYPTED_PACKAGE = "EncryptedPackage".encode("utf-16-le")
_WORD = "{http://schemas.openxmlformats.org/wordprocessingml/2006/main}"
_FALLBACK = "{http://schemas.openxmlformats.org/markup-compatibility/2006}Fallback"
_SKIPPED = {
    _FALLBACK,
    *(_WORD + name for name in ("pPr", "rPr", "tblPr", "tcPr", "trPr", "del", "moveFrom")),
}
_BREAKS = {_WORD + "tab": "\t", _WORD + "br": "\n", _WORD + "cr": "\n"}
_BREAKS[_WORD + "noBreakHyphen"] = "-"
_BEFORE = (RELATIONSHIP_TYPE.HEADER,)
_AFTER = (RELATIONSHIP_TYPE.FOOTNOTES, RELATIONSHIP_TYPE.ENDNOTES, RELATIONSHIP_TYPE.FOOTER)


def text(file: BinaryIO, limits: Limits) -> str:
    """The document's text. Raises `ParseFailed`."""
    _check_archive(file, limits)
    try:
        part = docx.Document(file).part
    except (OpcError, KeyError, ValueError, etree.XMLSyntaxError) as error:
        raise ParseFailed("unreadable", "The file is not a Word document.") from error
    if part.content_type != CONTENT_TYPE.WML_DOCUMENT_MAIN:
        raise ParseFailed("unreadable", "The file is not a Word document.")
    pieces = [*_related(part, _BEFORE), _Walk(part.element).text(), *_related(part, _AFTER)]
    return clean("\n".join(piece for piece in pieces if piece))


def _check_archive(file: BinaryIO, limits: Limits) -> None:
    """Refuse what would be too large, measured while inflating: declared sizes may lie."""
    if file.read(len(_COMPOUND_FILE)) == _COMPOUND_FILE:
        if _ENCRYPTED_PACKAGE in file.read():
            message = "The document is protected by a password."
            raise ParseFailed("password_protected", message)
        raise ParseFailed("unreadable", "The file is of an older Word; save it as DOCX.")
    try:
        with zipfile.ZipFile(file) as archive:
            _check_entries(archive, limits)
    except (zipfile.BadZipFile, zlib.error, EOFError, OSError, NotImplementedError) as error:
        raise ParseFailed("unreadable", "The file is damaged or not a Word document.") from error


def _check_entries(archive: zipfile.ZipFile, limits: Limits) -> None:
    entries = archive.infolist()
    if len(entries) > _MOST_ENTRIES:
        raise ParseFailed("too_large_unpacked", f"The file has more than {_MOST_ENTRIES} entries.")
    left = limits.max_unpacked_bytes
    for entry in entries:
        if entry.flag_bits & _ENCRYPTED_FLAG:
            raise ParseFailed("password_protected", "The document is protected by a password.")
        with archive.open(entry) as stream:
            while chunk := stream.read(_CHUNK):
                left -= len(chunk)
                if left < 0:
                    message = f"Unpacked, it takes more than {limits.max_unpacked_bytes} bytes."
                    raise ParseFailed("too_large_unpacked", message)


def _related(part: Any, kinds: Iterable[str]) -> list[str]:
    """Texts of the parts of these kinds, each text once, in the order of their names."""
    texts: dict[str, None] = {}
    for kind in kinds:
        found = [
            relation.target_part
            for relation in part.rels.values()
            if relation.reltype == kind and not relation.is_external
        ]
        for target in sorted(found, key=lambda one: _natural(str(one.partname))):
            texts.setdefault(_Walk(parse_xml(target.blob)).text())
    return list(texts)


def _natural(name: str) -> list[str]:
    return [digits.zfill(9) for digits in re.split(r"(\d+)", name)]


class _Walk:
    """Text of one part, in document order."""

    def __init__(self, root: Any) -> None:
        self._parts: list[str] = []
        self._cells = 0  # depth of table cells around here
        walker = etree.iterwalk(root, events=("start", "end"))
        for event, element in walker:
            if element.tag in _SKIPPED:
                if event == "start":
                    walker.skip_subtree()
            elif event == "start":
                self._enter(element)
            else:
                self._leave(element.tag)

    def text(self) -> str:
        return "".join(self._parts).strip("\n")

    def _enter(self, element: Any) -> None:
        tag = element.tag
        if tag == _WORD + "t":
            self._parts.append(element.text or "")
        elif tag in _BREAKS:
            mark = _BREAKS[tag]
            self._parts.append(" " if self._cells and mark == "\n" else mark)
        elif tag == _WORD + "tc":
            self._cells += 1

    def _leave(self, tag: str) -> None:
        if tag == _WORD + "p":
            self._parts.append(" " if self._cells else "\n")
        elif tag == _WORD + "tc":
            self._cells -= 1
            self._trim(" ")
            self._parts.append(" " if self._cells else "\t")
        elif tag == _WORD + "tr" and not self._cells:
            self._trim("\t")
            self._parts.append("\n")

    def _trim(self, mark: str) -> None:
        if self._parts and self._parts[-1] == mark:
            self._parts.pop()
