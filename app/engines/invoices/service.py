"""Validate and render invoices and credit notes.

The large libraries for rendering (30 MB) are imported on first use.
"""

from app.engines.invoices.checks import check_document
from app.engines.invoices.currencies import can_have_xml
from app.engines.invoices.model import Document, InvoiceError


def render_xml(document: Document) -> bytes | None:
    """Return a document as EN 16931 XML, in the Factur-X profile of the same name.

    Returns None if the currency has more than two decimal places, such as KWD. EN 16931 cannot
    express these amounts, so the document has only a PDF. Raises `InvoiceError` if the document is
    invalid or a draft.
    """
    check_document(document)
    if not can_have_xml(document.currency):
        return None
    from app.engines.invoices import einvoice  # noqa: PLC0415

    return einvoice.build_xml(document)


def render_pdf(document: Document, xml: bytes | None) -> bytes:
    """Return a document as PDF/A-3b, with `xml` attached as `factur-x.xml` unless it is None.

    The same input gives the same bytes. The first call in a process loads fonts and takes about a
    second. Call this function only in processes that do not fork afterwards. Raises `InvoiceError`
    if the document is invalid, or if it is a draft and `xml` is not None.
    """
    check_document(document)
    if xml is not None and document.number is None:
        raise InvoiceError("number", "is required for a document with XML")
    from app.engines.invoices import pdf  # noqa: PLC0415

    return pdf.build_pdf(document, xml)
