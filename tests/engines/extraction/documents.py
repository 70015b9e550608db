"""Documents from lines of text, whose words are placed where their characters are."""

import re
from collections.abc import Mapping, Sequence
from typing import Any

from app.engines.extraction.model import Document, SourceWord
from app.engines.fields import CompiledFields, SourceText

_STEP, _LINE = 0.011, 0.018


def build_document(lines: Sequence[str]) -> Document:
    """Return a document of one page; blanks in a line keep columns apart."""
    text, words = "", []
    for number, line in enumerate(lines):
        top = 0.03 + number * _LINE
        for match in re.finditer(r"\S+", line):
            start = len(text)
            text += match[0]
            box = (0.03 + match.start() * _STEP, top, 0.03 + match.end() * _STEP, top + 0.013)
            words.append(SourceWord(match[0], 1, box, start, len(text)))
            text += " "
        text = text.rstrip(" ") + "\n"
    return Document(text, words)


def build_pages(*pages: Sequence[str]) -> Document:
    """Return a document with these pages of lines."""
    text, words = "", []
    for number, lines in enumerate(pages, start=1):
        page = build_document(lines)
        words += [
            word._replace(page=number, start=word.start + len(text), end=word.end + len(text))
            for word in page.words
        ]
        text += page.text
    return Document(text, words)


def check_normal_form(
    tags: Sequence[Mapping[str, Any]], document: Document, fields: Sequence[Mapping[str, Any]]
) -> None:
    """Check that the tags of a document of one page are in normal form."""
    text = document.text
    checked = CompiledFields(fields).check_tags(
        tags, text_length=len(text), page_count=1, source=SourceText(lambda: text)
    )
    assert checked == tags
