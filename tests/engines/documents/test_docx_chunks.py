"""Files in other formats inside Word documents."""

from pathlib import Path

import pytest
from docx.document import Document
from docx.opc.constants import CONTENT_TYPE, RELATIONSHIP_TYPE
from docx.opc.packuri import PackURI
from docx.opc.part import Part
from docx.oxml import parse_xml
from docx.oxml.ns import nsdecls

from app.engines.documents.media import DOCX
from tests.engines.documents import samples
from tests.engines.documents.parsing import parse_data

WEB_PAGE = (
    b"MIME-Version: 1.0\nContent-Type: multipart/related; type=text/html; boundary=b\n\n--b\n"
    b"Content-Type: text/html; charset=utf-8\nContent-Transfer-Encoding: quoted-printable\n\n"
    b"<html><body><p>caf=C3=A9</p></body></html>\n--b--\n"
)
WORD = samples.word(lambda document: document.add_paragraph("café"))


def with_chunk(data: bytes, content_type: str) -> bytes:
    """Return a Word document that embeds a file between two paragraphs."""

    def fill(document: Document) -> None:
        document.add_paragraph("before")
        package = document.part.package
        chunk = Part(PackURI("/word/chunk.bin"), content_type, data, package)
        reference = document.part.relate_to(chunk, RELATIONSHIP_TYPE.A_F_CHUNK)
        element = parse_xml(f'<w:altChunk {nsdecls("w", "r")} r:id="{reference}"/>')
        document.element.body.insert(1, element)
        document.add_paragraph("after")

    return samples.word(fill)


@pytest.mark.parametrize(
    ("content_type", "data", "expected"),
    [
        (CONTENT_TYPE.WML_DOCUMENT_MAIN, WORD, "café"),
        (DOCX, WORD, "café"),
        ("text/html", "<h1>Lease</h1><p>café</p>".encode(), "Lease\n\ncafé"),
        ("message/rfc822", WEB_PAGE, "café"),
        ("application/rtf", rb"{\rtf1\ansi\ansicpg1252 caf\'e9\par}", "café"),
        ("text/plain", b"caf\xe9", "café"),
        ("image/png", b"\x89PNG", ""),
    ],
)
def test_embedded_files_are_read_in_place(
    tmp_path: Path, content_type: str, data: bytes, expected: str
) -> None:
    document = parse_data(tmp_path, with_chunk(data, content_type), DOCX)
    assert document.text == f"before\n{expected}\nafter"
