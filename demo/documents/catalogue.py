"""List the demo documents with their layout, language and status.

The libraries that render documents are imported when a document is rendered, not with this module.
"""

from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from typing import Literal

from demo.documents.model import Contract, Invoice, load_contract, load_invoice
from demo.documents.truth import Tag, build_contract_tags, build_invoice_tags

DemoStatus = Literal["unlabeled", "draft", "submitted", "accepted", "rejected"]

PDF = "application/pdf"
DOCX = "application/vnd.openxmlformats-officedocument.wordprocessingml.document"


@dataclass(frozen=True, slots=True)
class DemoDocument:
    """A document that is uploaded to the demo organization.

    `render` returns the bytes of the file, which are the same for every call. `correct_tags` has
    all correct tags, in the format for PUT /tag-sets/{id}/tags. `language` is an ISO 639-1 code.
    `status` is the status of the document's tag set in the demo, or `unlabeled` if the document has
    no tag set.
    """

    name: str
    media_type: str
    schema: Literal["invoice", "contract"]
    language: str
    render: Callable[[], bytes]
    correct_tags: list[Tag]
    status: DemoStatus


def _build_invoice(
    name: str, media_type: str, slug: str, renderer: str, status: DemoStatus, *options: str
) -> DemoDocument:
    invoice = load_invoice(slug)
    render = _build_renderer(renderer, invoice, *options)
    correct_tags = build_invoice_tags(invoice)
    return DemoDocument(name, media_type, "invoice", invoice.language, render, correct_tags, status)


def _build_contract(
    name: str, media_type: str, slug: str, renderer: str, status: DemoStatus, *options: str
) -> DemoDocument:
    contract = load_contract(slug)
    render = _build_renderer(renderer, contract, *options)
    correct_tags = build_contract_tags(contract)
    return DemoDocument(
        name, media_type, "contract", contract.language, render, correct_tags, status
    )


def _build_renderer(
    renderer: str, source: Invoice | Contract, *options: str
) -> Callable[[], bytes]:
    """Return a function that renders `source`.

    `renderer` is the name of the rendering function, in the form `module:function`.
    """
    module, _, function = renderer.partition(":")

    def render() -> bytes:
        render_source = getattr(import_module(f"{__package__}.{module}"), function)
        content: bytes = render_source(source, *options)
        return content

    return render


DOCUMENTS: list[DemoDocument] = [
    _build_invoice(
        "RE-2026-0147 Nordlicht.pdf", PDF, "nordlicht", "letters:render_with_letterhead", "accepted"
    ),
    _build_invoice(
        "Harrow and Finch 20931.pdf", PDF, "harrow", "letters:render_with_borders", "accepted"
    ),
    _build_invoice(
        "facture F-2026-118.pdf", PDF, "merle", "letters:render_two_columns", "submitted"
    ),
    _build_invoice("ticket cafetería.pdf", PDF, "alondra", "forms:render_receipt", "submitted"),
    _build_invoice("freight bill MLF-77310.pdf", PDF, "meridian", "wide:render_landscape", "draft"),
    _build_invoice("work order 8841-C.pdf", PDF, "sunward", "forms:render_boxed_form", "accepted"),
    _build_invoice("Eisenhain 4402718.pdf", PDF, "eisenhain", "wide:render_many_pages", "draft"),
    _build_invoice("scan0007.pdf", PDF, "brackenhill", "scan:render_scan", "unlabeled"),
    _build_invoice("factura de lado.pdf", PDF, "olivar", "wide:render_rotated", "unlabeled"),
    _build_invoice(
        "Clonbeg invoice.eml",
        "message/rfc822",
        "clonbeg",
        "plain:render_email_invoice",
        "submitted",
    ),
    _build_invoice(
        "τιμολόγιο.txt", "text/plain", "elaionas", "plain:render_text_invoice", "unlabeled", "utf-8"
    ),
    _build_invoice(
        "счёт 0315.txt", "text/plain", "mayak", "plain:render_text_invoice", "rejected", "cp1251"
    ),
    _build_invoice(
        "فاتورة.html", "text/html", "waha", "web:render_html_invoice", "unlabeled", "utf-8"
    ),
    _build_invoice(
        "請求書.html", "text/html", "aozora", "web:render_html_invoice", "draft", "shift_jis"
    ),
    _build_contract(
        "Master Services Agreement.pdf", PDF, "services", "agreements:render_contract", "submitted"
    ),
    _build_contract("bail commercial.docx", DOCX, "lease", "word:render_docx_contract", "accepted"),
    _build_contract("договор 48-П.docx", DOCX, "supply", "word:render_docx_contract", "submitted"),
    _build_contract(
        "NDA Entwurf.txt", "text/plain", "nda", "plain:render_text_contract", "unlabeled", "cp1252"
    ),
]
