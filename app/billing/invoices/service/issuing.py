"""Write the invoices of a closed period, and issue them under the next numbers of their series."""

from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from app.billing.invoices import emitted_events
from app.billing.invoices.models import TRANSITIONS, Invoice, InvoiceKind, InvoiceStatus
from app.billing.invoices.queries import records
from app.billing.invoices.service import computing
from app.billing.invoices.service.computing import Content, Period
from app.billing.invoices.service.dumping import dump_line, dump_party, dump_seller, dump_tax
from app.billing.plan_changes import service as plan_changes
from app.billing.profiles import service as profiles
from app.billing.profiles.models import BillingProfile
from app.billing.seller.configuration import BillingConfiguration, require_configuration
from app.billing.usage import service as usage
from app.identity.organizations import service as organizations
from app.kit import db, events


def issue_period(organization_id: UUID, start: datetime, end: datetime) -> list[Invoice]:
    """Write and issue the invoices of the bound organization for a period that has ended.

    Repeating it changes nothing. There is no invoice if nothing is to be paid. Without a billing
    profile, the invoice stays a draft. Raises BillingFileError.
    """
    configuration = require_configuration()
    organization = organizations.lock(organization_id)
    plan_changes.apply_due(organization)
    existing = records.list_of_period(start)
    if any(invoice.status != InvoiceStatus.DRAFT for invoice in existing.values()):
        return []
    usage.settle_period(end)
    profile = profiles.find()
    period = Period(start, end)
    written = []
    for content in computing.compute(organization, period, profile, configuration):
        invoice = existing.get(content.currency)
        invoice = _write_draft(invoice, content, period, profile, configuration)
        if profile is not None:
            issue(invoice, configuration)
        written.append(invoice)
    return written


def issue_drafts(organization_id: UUID) -> list[Invoice]:
    """Issue the drafts of the bound organization, which now has a billing profile."""
    return [
        invoice
        for start, end in records.list_draft_periods()
        for invoice in issue_period(organization_id, start, end)
    ]


def issue(invoice: Invoice, configuration: BillingConfiguration) -> None:
    """Issue a draft with the next number of its series. Emits `invoice.issued`.

    The series is locked last, and until the commit, so that a number is used exactly once.
    """
    db.session().flush()
    now = plan_changes.get_database_time()
    is_credit_note = invoice.kind == InvoiceKind.CREDIT_NOTE
    prefix = configuration.build_prefix(is_credit_note=is_credit_note, at=now)
    invoice.number = configuration.format_number(prefix, records.take_number(prefix))
    change_status(invoice, InvoiceStatus.ISSUED)
    invoice.issued_at = now
    if not is_credit_note:
        invoice.due_at = now + timedelta(days=configuration.payment_days)
    emit(emitted_events.ISSUED, invoice)


def change_status(invoice: Invoice, status: InvoiceStatus) -> None:
    """Change the status of a locked invoice, which must allow it."""
    assert status in TRANSITIONS[InvoiceStatus(invoice.status)], f"{invoice.status} to {status}"
    invoice.status = status.value


def emit(event: str, invoice: Invoice) -> None:
    """Emit an event about an issued invoice of the bound organization."""
    assert invoice.number is not None
    payload: emitted_events.InvoicePayload = {
        "invoice_id": invoice.id,
        "number": invoice.number,
        "kind": invoice.kind,
    }
    events.emit(event, payload)


def _write_draft(
    invoice: Invoice | None,
    content: Content,
    period: Period,
    profile: BillingProfile | None,
    configuration: BillingConfiguration,
) -> Invoice:
    values: dict[str, Any] = {
        "currency": content.currency,
        "language": content.language,
        "time_zone": profile.time_zone if profile else "UTC",
        "seller": dump_seller(configuration),
        "buyer": dump_party(computing.build_buyer(profile)) if profile else None,
        "lines": [dump_line(line) for line in content.lines],
        "subtotal": content.totals.subtotal,
        "tax": dump_tax(content.totals.taxes[0]),
        "total": content.totals.total,
        "notes": list(configuration.notes),
    }
    if invoice is None:
        invoice = Invoice(
            kind=InvoiceKind.INVOICE.value, period_from=period.start, period_to=period.end, **values
        )
        db.session().add(invoice)
    for key, value in values.items():
        setattr(invoice, key, value)
    return invoice
