"""List the demo documents with their layout, language and status.

The drawing libraries are imported when a document is rendered, not when the list is read.
"""

from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from typing import Literal

from demo.documents.model import Contract, Invoice, load_contract, load_invoice
from demo.documents.truth import Tag, build_contract_tags, build_invoice_tags

State = Literal["unlabeled", "draft", "submitted", "accepted", "rejected"]

PDF = "application/pdf"
DOCX = "application/vnd.openxmlformats-officedocument.wordprocessingml.document"


@dataclass(frozen=True, slots=True)
class DemoDocument:
    """A document to upload.

    `render` returns the bytes of the file, the same at every call. `truth` has all correct tags in
    the format of PUT /tag-sets/{id}/tags. `language` is an ISO 639-1 code. `state` is the status of
    its tag set in the demo; `unlabeled` means that the document has no tag set.
    """

    name: str
    media_type: str
    schema: Literal["invoice", "contract"]
    language: str
    render: Callable[[], bytes]
    truth: list[Tag]
    state: State


def _build_invoice(
    name: str, media_type: str, slug: str, renderer: str, state: State, *options: str
) -> DemoDocument:
    invoice = load_invoice(slug)
    render = _build_renderer(renderer, invoice, *options)
    truth = build_invoice_tags(invoice)
    return DemoDocument(name, media_type, "invoice", invoice.language, render, truth, state)


def _build_contract(
    name: str, media_type: str, slug: str, renderer: str, state: State, *options: str
) -> DemoDocument:
    contract = load_contract(slug)
    render = _build_renderer(renderer, contract, *options)
    truth = build_contract_tags(contract)
    return DemoDocument(name, media_type, "contract", contract.language, render, truth, state)


def _build_renderer(
    renderer: str, source: Invoice | Contract, *options: str
) -> Callable[[], bytes]:
    module, _, function = renderer.partition(":")

    def render() -> bytes:
        draw = getattr(import_module(f"{__package__}.{module}"), function)
        content: bytes = draw(source, *options)
        return content

    return render


DOCUMENTS: list[DemoDocument] = [
    _build_invoice(
        "RE-2026-0147 Nordlicht.pdf", PDF, "nordlicht", "letters:draw_with_letterhead", "accepted"
    ),
    _build_invoice(
        "Harrow and Finch 20931.pdf", PDF, "harrow", "letters:draw_with_borders", "accepted"
    ),
    _build_invoice("facture F-2026-118.pdf", PDF, "merle", "letters:draw_two_columns", "submitted"),
    _build_invoice("ticket cafetería.pdf", PDF, "alondra", "forms:draw_receipt", "submitted"),
    _build_invoice("freight bill MLF-77310.pdf", PDF, "meridian", "wide:draw_landscape", "draft"),
    _build_invoice("work order 8841-C.pdf", PDF, "sunward", "forms:draw_boxed_form", "accepted"),
    _build_invoice("Eisenhain 4402718.pdf", PDF, "eisenhain", "wide:draw_many_pages", "draft"),
    _build_invoice("scan0007.pdf", PDF, "brackenhill", "scan:draw_scan", "unlabeled"),
    _build_invoice("factura de lado.pdf", PDF, "olivar", "wide:draw_rotated", "unlabeled"),
    _build_invoice(
        "Clonbeg invoice.eml", "message/rfc822", "clonbeg", "plain:write_email_invoice", "submitted"
    ),
    _build_invoice(
        "τιμολόγιο.txt", "text/plain", "elaionas", "plain:write_text_invoice", "unlabeled", "utf-8"
    ),
    _build_invoice(
        "счёт 0315.txt", "text/plain", "mayak", "plain:write_text_invoice", "rejected", "cp1251"
    ),
    _build_invoice(
        "فاتورة.html", "text/html", "waha", "web:write_html_invoice", "unlabeled", "utf-8"
    ),
    _build_invoice(
        "請求書.html", "text/html", "aozora", "web:write_html_invoice", "draft", "shift_jis"
    ),
    _build_contract(
        "Master Services Agreement.pdf", PDF, "services", "agreements:draw_contract", "submitted"
    ),
    _build_contract("bail commercial.docx", DOCX, "lease", "word:write_docx_contract", "accepted"),
    _build_contract("договор 48-П.docx", DOCX, "supply", "word:write_docx_contract", "submitted"),
    _build_contract(
        "NDA Entwurf.txt", "text/plain", "nda", "plain:write_text_contract", "unlabeled", "cp1252"
    ),
]
