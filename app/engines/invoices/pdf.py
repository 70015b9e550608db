"""Write the PDF of documents with typst."""

import functools
import threading
from pathlib import Path

import orjson
import typst

from app.engines.invoices.content import build_content
from app.engines.invoices.fonts import create_compiler
from app.engines.invoices.metadata import add_metadata
from app.engines.invoices.model import Document

_LAYOUT = Path(__file__).with_name("layout.typ").read_bytes()
_LOCK = threading.Lock()
_MANY_LINES = 100
_RUNS_TO_FORGET = 11


def build_pdf(document: Document, xml: bytes | None) -> bytes:
    """Return the PDF/A-3b of a checked document, with its XML if it has one."""
    inputs = {
        "document": orjson.dumps(build_content(document)).decode(),
        "xml": (xml or b"").decode(),
    }
    with _LOCK:
        pdf = _load_compiler().compile(
            input=_LAYOUT,
            format="pdf",
            sys_inputs=inputs,
            pdf_standards="a-3b",
            timestamp=int(document.issued_at.timestamp()),
        )
        if len(document.lines) > _MANY_LINES:
            _release_memory()
    return add_metadata(pdf) if xml else pdf


@functools.cache
def _load_compiler() -> typst.Compiler:
    return create_compiler()


def _release_memory() -> None:
    """Make typst forget a large document: it keeps the results of its last ten runs."""
    for _ in range(_RUNS_TO_FORGET):
        _load_compiler().compile(input=b"", format="pdf")
