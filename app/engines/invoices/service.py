"""Check and render documents; large libraries (30 MB) are imported on first use."""

import importlib
from typing import Any

from app.engines.invoices.checks import check_document
from app.engines.invoices.currencies import has_xml
from app.engines.invoices.model import Document, InvoiceError


def render_xml(document: Document) -> bytes | None:
    """Return the EN 16931 XML of a document, in the Factur-X profile EN 16931.

    Returns None for a currency with more than two decimal places, such as KWD, which EN 16931
    cannot express; its documents have only a PDF. Raises `InvoiceError` if the document is invalid
    or a draft.
    """
    check_document(document)
    if not has_xml(document.currency):
        return None
    xml: bytes = _load("einvoice").build_xml(document)
    return xml


def validate_xml(xml: bytes) -> list[str]:
    """Return the violations of the Factur-X EN 16931 schema, or an empty list.

    The business rules of EN 16931 need an XSLT 3.0 processor; only the tests check them.
    """
    errors: list[str] = _load("einvoice").list_schema_errors(xml)
    return errors


def render_pdf(document: Document, xml: bytes | None) -> bytes:
    """Return a PDF/A-3b of a document, with `xml` attached as `factur-x.xml`.

    The same input gives the same bytes. The first call in a process loads fonts and takes about a
    second. Call this function only in processes that do not fork afterwards. Raises `InvoiceError`
    if the document is invalid.
    """
    check_document(document)
    if xml is not None and document.number is None:
        raise InvoiceError("number", "is required, because a draft has no XML")
    pdf: bytes = _load("pdf").build_pdf(document, xml)
    return pdf


def _load(module: str) -> Any:
    return importlib.import_module(f"app.engines.invoices.{module}")
