"""Read the text of demo documents independently of the code that generates them."""

import email
import io
import re
import unicodedata
from collections.abc import Callable
from email import policy
from html.parser import HTMLParser

import docx
import pypdfium2

from demo.documents import DemoDocument

LEGACY_ENCODINGS = {"ru": "cp1251", "de": "cp1252"}


class _Words(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.words: list[str] = []

    def handle_data(self, data: str) -> None:
        self.words.append(data)


def _from_pdf(document: DemoDocument) -> str:
    with pypdfium2.PdfDocument(document.render()) as pdf:
        return "\n".join(page.get_textpage().get_text_range() for page in pdf)


def _from_docx(document: DemoDocument) -> str:
    opened = docx.Document(io.BytesIO(document.render()))
    cells = (c.text for table in opened.tables for row in table.rows for c in row.cells)
    return "\n".join([*(paragraph.text for paragraph in opened.paragraphs), *cells])


def _from_mail(document: DemoDocument) -> str:
    message = email.message_from_bytes(document.render(), policy=policy.default)
    body = message.get_body(("plain",))
    assert body is not None
    return body.get_content()


def _from_html(document: DemoDocument) -> str:
    content = document.render()
    declared = re.search(rb'<meta charset="([^"]+)">', content)
    assert declared is not None
    parser = _Words()
    parser.feed(content.decode(declared[1].decode()))
    return " ".join(parser.words)


def _from_text(document: DemoDocument) -> str:
    content = document.render()
    return content.decode(LEGACY_ENCODINGS.get(document.language, "utf-8"))


READERS: dict[str, Callable[[DemoDocument], str]] = {
    "application/pdf": _from_pdf,
    "application/vnd.openxmlformats-officedocument.wordprocessingml.document": _from_docx,
    "message/rfc822": _from_mail,
    "text/html": _from_html,
    "text/plain": _from_text,
}


def normalize(text: str) -> str:
    """Normalize text for comparison: NFKC, ASCII digits, no Arabic separators, single spaces."""
    text = unicodedata.normalize("NFKC", text)
    text = "".join(str(unicodedata.decimal(char, char)) for char in text)
    return " ".join(text.replace("\u066c", ",").replace("\u066b", ".").split())


def read(document: DemoDocument) -> str:
    """Return a document's whole text, normalized."""
    return normalize(READERS[document.media_type](document))
