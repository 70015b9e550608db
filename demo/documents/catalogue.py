"""Which documents there are, in which layout and language, and how far their labeling has come.

The drawing libraries are imported when a document is made, not when the list is read.
"""

from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from typing import Literal

from demo.documents.model import Contract, Invoice, load_contract, load_invoice
from demo.documents.truth import Tag, contract_truth, invoice_truth

State = Literal["unlabeled", "draft", "submitted", "accepted", "rejected"]

PDF = "application/pdf"
DOCX = "application/vnd.openxmlformats-officedocument.wordprocessingml.document"


@dataclass(frozen=True, slots=True)
class DemoDocument:
    """A document to upload.

    `make` returns the file's bytes, the same at every call; `truth` holds its complete and right
    tags as PUT /tag-sets/{id}/tags takes them; `language` is an ISO 639-1 code; `state` is how
    far its label set has come in the demo (`unlabeled`: it has none).
    """

    name: str
    media_type: str
    schema: Literal["invoice", "contract"]
    language: str
    make: Callable[[], bytes]
    truth: list[Tag]
    state: State


def _invoice(
    name: str, media_type: str, slug: str, maker: str, state: State, *options: str
) -> DemoDocument:
    invoice = load_invoice(slug)
    make = _made_by(maker, invoice, *options)
    truth = invoice_truth(invoice)
    return DemoDocument(name, media_type, "invoice", invoice.language, make, truth, state)


def _contract(
    name: str, media_type: str, slug: str, maker: str, state: State, *options: str
) -> DemoDocument:
    contract = load_contract(slug)
    make = _made_by(maker, contract, *options)
    truth = contract_truth(contract)
    return DemoDocument(name, media_type, "contract", contract.language, make, truth, state)


def _made_by(maker: str, source: Invoice | Contract, *options: str) -> Callable[[], bytes]:
    module, _, function = maker.partition(":")

    def make() -> bytes:
        draw = getattr(import_module(f"{__package__}.{module}"), function)
        content: bytes = draw(source, *options)
        return content

    return make


DOCUMENTS: list[DemoDocument] = [
    _invoice("RE-2026-0147 Nordlicht.pdf", PDF, "nordlicht", "letters:letterhead", "accepted"),
    _invoice("Harrow and Finch 20931.pdf", PDF, "harrow", "letters:bordered", "accepted"),
    _invoice("facture F-2026-118.pdf", PDF, "merle", "letters:two_column", "submitted"),
    _invoice("ticket cafetería.pdf", PDF, "alondra", "forms:receipt", "submitted"),
    _invoice("freight bill MLF-77310.pdf", PDF, "meridian", "wide:landscape_statement", "draft"),
    _invoice("work order 8841-C.pdf", PDF, "sunward", "forms:boxed", "accepted"),
    _invoice("Eisenhain 4402718.pdf", PDF, "eisenhain", "wide:many_pages", "draft"),
    _invoice("scan0007.pdf", PDF, "brackenhill", "scan:scanned", "unlabeled"),
    _invoice("factura de lado.pdf", PDF, "olivar", "wide:rotated", "unlabeled"),
    _invoice("Clonbeg invoice.eml", "message/rfc822", "clonbeg", "plain:mail_invoice", "submitted"),
    _invoice("τιμολόγιο.txt", "text/plain", "elaionas", "plain:text_invoice", "unlabeled", "utf-8"),
    _invoice("счёт 0315.txt", "text/plain", "mayak", "plain:text_invoice", "rejected", "cp1251"),
    _invoice("فاتورة.html", "text/html", "waha", "web:html_invoice", "unlabeled", "utf-8"),
    _invoice("請求書.html", "text/html", "aozora", "web:html_invoice", "draft", "shift_jis"),
    _contract(
        "Master Services Agreement.pdf", PDF, "services", "agreements:pdf_contract", "submitted"
    ),
    _contract("bail commercial.docx", DOCX, "lease", "word:docx_contract", "accepted"),
    _contract("договор 48-П.docx", DOCX, "supply", "word:docx_contract", "submitted"),
    _contract("NDA Entwurf.txt", "text/plain", "nda", "plain:text_contract", "unlabeled", "cp1252"),
]
