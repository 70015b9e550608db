"""Render the files of each issued invoice once, and store them with their checksums."""

import hashlib
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any, cast
from uuid import UUID
from zoneinfo import ZoneInfo

from app.billing.invoices import queries
from app.billing.invoices.models import Invoice, InvoiceStatus
from app.billing.invoices.service.dumping import load_line, load_party, load_tax
from app.engines.invoices.checks import check_document
from app.engines.invoices.model import Document, DocumentKind, InvoiceError, Language, Payment
from app.engines.invoices.service import render_pdf, render_xml
from app.kit import container, db
from app.kit.jobs import Job
from app.kit.logging import get_logger

log = get_logger(__name__)

_FOLDER = "invoices"
"""The folder for invoice files. It is kept when the organization and its own folder are erased."""


def render_missing_files(job: Job) -> list[str]:
    """Render and store the missing files of the current organization's issued invoices.

    An invoice that cannot be rendered does not block other invoices. Its error is logged. Commits
    before each rendering. Returns an error message for each invoice that could not be rendered.
    """
    problems = []
    for invoice_id in queries.list_unrendered_invoice_ids():
        try:
            render_files(job, invoice_id)
        except InvoiceError as error:
            log.exception("invoices.not_rendered", invoice_id=str(invoice_id))
            problems.append(f"{invoice_id}: {error}")
    return problems


def find_problem(draft: Invoice, *, corrected_invoice_number: str | None = None) -> str | None:
    """Return the reason why a draft with a buyer cannot be rendered, or None if it can be.

    `corrected_invoice_number` is the number of the invoice that a credit note corrects.
    """
    try:
        check_document(build_document(draft, corrected_invoice_number, issued_at=db.utc_now()))
    except InvoiceError as error:
        return str(error)
    return None


def find_problems(invoices: Sequence[Invoice]) -> dict[UUID, str]:
    """Return the rendering problem of each organization's first invalid draft, by organization id.

    Only drafts with a buyer are checked. Drafts without a buyer wait for the billing profile.
    """
    problems: dict[UUID, str] = {}
    for invoice in invoices:
        if invoice.status == InvoiceStatus.DRAFT and invoice.buyer is not None:
            problem = find_problem(invoice)
            # An organization can have one draft per currency; some of the drafts may be valid.
            if problem is not None:
                problems.setdefault(invoice.organization_id, problem)
    return problems


def render_files(job: Job, invoice_id: UUID) -> None:
    """Render the files of an issued invoice and store them, unless they are already stored.

    Commits before the invoice is rendered. The files of an invoice always have the same bytes, so
    an interrupted run can be repeated. Raises InvoiceError if the invoice cannot be rendered.
    """
    invoice = queries.get(invoice_id)
    if invoice is None or invoice.status == InvoiceStatus.DRAFT or invoice.pdf is not None:
        return
    document = build_document(invoice, _find_invoice_number(invoice.refers_to))
    organization_id = invoice.organization_id
    job.checkpoint()
    xml = render_xml(document)
    pdf = render_pdf(document, xml)
    stored_xml = None if xml is None else _store_file(organization_id, invoice_id, xml, "xml")
    stored_pdf = _store_file(organization_id, invoice_id, pdf, "pdf")
    locked_invoice = queries.lock(invoice_id)
    if locked_invoice is not None and locked_invoice.pdf is None:
        locked_invoice.pdf = stored_pdf
        if stored_xml is not None:
            locked_invoice.xml = stored_xml


def build_document(
    invoice: Invoice, corrected_invoice_number: str | None, *, issued_at: datetime | None = None
) -> Document:
    """Build the document from which the invoice engine renders an invoice.

    `corrected_invoice_number` is the number of the invoice that a credit note corrects. `issued_at`
    is required for a draft, which has no time of issue yet.
    """
    issued_at = invoice.issued_at or issued_at
    assert issued_at is not None
    assert invoice.buyer is not None
    seller = dict(invoice.seller)
    payment = seller.pop("payment")
    return Document(
        number=invoice.number,
        kind=cast("DocumentKind", invoice.kind),
        issued_at=issued_at,
        due_at=invoice.due_at,
        period_from=_to_local_midnight(invoice.period_from, invoice.time_zone),
        period_to=_to_local_midnight(invoice.period_to, invoice.time_zone),
        currency=invoice.currency,
        seller=load_party(seller),
        buyer=load_party(invoice.buyer),
        lines=tuple(load_line(line) for line in invoice.lines),
        subtotal=invoice.subtotal,
        taxes=(load_tax(invoice.tax),),
        total=invoice.total,
        corrected_invoice_number=corrected_invoice_number,
        language=cast("Language", invoice.language),
        notes=tuple(invoice.notes),
        payment=None if payment is None else Payment(**payment),
        time_zone=invoice.time_zone,
    )


def _to_local_midnight(at: datetime, time_zone: str) -> datetime:
    """Return midnight in `time_zone` on the day that begins at `at`, which is midnight in UTC.

    A billing period is a month in UTC, but invoices show its dates in the buyer's time zone. The
    first and last days of the period must be the same in both time zones.
    """
    return at.astimezone(UTC).replace(tzinfo=ZoneInfo(time_zone))


def _find_invoice_number(invoice_id: UUID | None) -> str | None:
    invoice = None if invoice_id is None else queries.get(invoice_id)
    return None if invoice is None else invoice.number


def _store_file(
    organization_id: UUID, invoice_id: UUID, content: bytes, suffix: str
) -> dict[str, Any]:
    sha256 = hashlib.sha256(content).hexdigest()
    key = f"{_FOLDER}/{organization_id}/{invoice_id}-{sha256}.{suffix}"
    stored_file = container.current().storage.write(key, [content])
    return {"key": key, "sha256": stored_file.sha256, "size": stored_file.size}
