"""Render invoices and credit notes as PDF/A with typst."""

import functools
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import orjson
import typst

from app.engines.invoices.content import build_content
from app.engines.invoices.fonts import create_compiler, replace_uncommon_characters
from app.engines.invoices.metadata import add_metadata
from app.engines.invoices.model import Document

_LAYOUT = Path(__file__).with_name("layout.typ").read_bytes()
_LOCK = threading.Lock()
_MANY_LINES = 100
_RUNS_TO_CLEAR_CACHE = 11


def build_pdf(document: Document, xml: bytes | None) -> bytes:
    """Render a valid document as PDF/A-3b, with `xml` attached unless it is None."""
    content = build_content(document)
    with _LOCK:
        try:
            pdf = _compile(content, document, xml)
        except typst.TypstError:
            # PDF/A forbids placeholder boxes, so typst fails if a character has no glyph.
            pdf = _compile(_replace_uncommon_characters(content), document, xml)
        if len(document.lines) > _MANY_LINES:
            _release_memory()
    return add_metadata(pdf) if xml else pdf


def _compile(content: dict[str, Any], document: Document, xml: bytes | None) -> bytes:
    files = {
        "main": _LAYOUT,
        "document.json": orjson.dumps(content),
        "factur-x.xml": xml or b"",
    }
    pdf = _load_compiler().compile(
        input=files,  # type: ignore[type-var]  # the type stubs of typst omit dictionaries
        format="pdf",
        pdf_standards="a-3b",
        timestamp=int(document.issued_at.timestamp()),
    )
    assert isinstance(pdf, bytes), "typst returns bytes if it gets no output path"
    return pdf


def _replace_uncommon_characters(content: dict[str, Any]) -> dict[str, Any]:
    return {
        name: _map_strings(value, replace_uncommon_characters) for name, value in content.items()
    }


def _map_strings(value: object, change: Callable[[str], str]) -> object:
    """Return a copy of a JSON structure, with `change` applied to each string."""
    if isinstance(value, str):
        return change(value)
    if isinstance(value, dict):
        return {name: _map_strings(item, change) for name, item in value.items()}
    if isinstance(value, list | tuple):
        return [_map_strings(item, change) for item in value]
    return value


@functools.cache
def _load_compiler() -> typst.Compiler:
    return create_compiler()


def _release_memory() -> None:
    """Evict a large document from typst's cache of ten results by compiling empty documents."""
    for _ in range(_RUNS_TO_CLEAR_CACHE):
        _load_compiler().compile(input=b"", format="pdf")
