"""Write the invoices of a closed period, and issue them under the next numbers of their series."""

from collections.abc import Callable, Sequence
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from app.billing.invoices import emitted_events
from app.billing.invoices.models import TRANSITIONS, Invoice, InvoiceKind, InvoiceStatus
from app.billing.invoices.queries import records
from app.billing.invoices.service import computing
from app.billing.invoices.service.computing import Content, Facts, Period
from app.billing.invoices.service.dumping import dump_line, dump_party, dump_seller, dump_tax
from app.billing.plan_changes import service as plan_changes
from app.billing.plan_changes.versions import PlanVersions
from app.billing.profiles import service as profiles
from app.billing.seller.configuration import BillingConfiguration, require_configuration
from app.billing.usage import service as usage
from app.identity.organizations.models import Organization
from app.kit import db, events, tenancy

BATCH = 100
"""The number of organizations whose invoices are written in one transaction."""
_REASON = "the invoices of many organizations are written together"


def list_billed(end: datetime, *, after: UUID) -> list[UUID]:
    """Return the next organizations that are billed for a period that ended at `end`."""
    with tenancy.across_organizations(reason=_REASON):
        return records.list_billed(end, after=after, limit=BATCH)


def issue_many(organization_ids: Sequence[UUID], start: datetime, end: datetime) -> list[Invoice]:
    """Write and issue the invoices of organizations for a period that has ended.

    Repeating it changes nothing. There is no invoice if nothing is to be paid. Without a billing
    profile, an invoice stays a draft. Raises BillingFileError.
    """
    configuration = require_configuration()
    period = Period(start, end)
    with tenancy.across_organizations(reason=_REASON):
        organizations = records.lock_organizations(organization_ids)
        plan_changes.apply_due_changes(organization_ids)
        existing = records.list_of_period(organization_ids, start)
        done = {key for (key, _), one in existing.items() if one.status != InvoiceStatus.DRAFT}
        pending = [one for one in organizations if one.id not in done]
        written = []
        for facts in _gather(pending, period):
            for content in computing.compute(facts, period, configuration):
                invoice = existing.get((facts.organization.id, content.currency))
                written.append(_write_draft(invoice, facts, content, period, configuration))
        issue([invoice for invoice in written if invoice.buyer is not None], configuration)
        db.session().add_all(written)
        db.session().flush()
    return written


def issue_period(organization_id: UUID, start: datetime, end: datetime) -> list[Invoice]:
    """Write and issue the invoices of one organization for a period that has ended."""
    return issue_many([organization_id], start, end)


def issue_drafts(organization_id: UUID) -> list[Invoice]:
    """Issue the drafts of the current organization, which now has a billing profile."""
    return [
        invoice
        for start, end in records.list_draft_periods()
        for invoice in issue_period(organization_id, start, end)
    ]


def issue(invoices: Sequence[Invoice], configuration: BillingConfiguration) -> None:
    """Issue drafts of one kind with the next numbers of their series. Emits `invoices.issued`.

    All organizations must be bound. The series is locked last and until the commit, so that each
    number is used exactly once.
    """
    if not invoices:
        return
    now = plan_changes.get_database_time()
    is_credit_note = invoices[0].kind == InvoiceKind.CREDIT_NOTE
    prefix = configuration.build_prefix(is_credit_note=is_credit_note, at=now)
    numbers = records.take_numbers(prefix, len(invoices))
    for invoice, number in zip(invoices, numbers, strict=True):
        invoice.number = configuration.format_number(prefix, number)
        change_status(invoice, InvoiceStatus.ISSUED)
        invoice.issued_at = now
        if not is_credit_note:
            invoice.due_at = now + timedelta(days=configuration.payment_days)
    db.session().add_all(invoices)
    events.emit_each(
        emitted_events.ISSUED,
        {"period_from": invoices[0].period_from},
        organizations="SELECT id FROM unnest(CAST(:ids AS uuid[])) AS issued (id)",
        ids=sorted({str(invoice.organization_id) for invoice in invoices}),
    )


def _gather(organizations: Sequence[Organization], period: Period) -> list[Facts]:
    """Return the facts about locked organizations, whose usage of the period is then settled."""
    if not organizations:
        return []
    ids = [organization.id for organization in organizations]
    usage.settle_many(ids, period.end)
    used = usage.measure_many(ids, period.start, period.end)
    changes, found = plan_changes.list_changes(ids), profiles.find_many(ids)
    versions = PlanVersions()
    return [
        Facts(
            organization=one,
            changes=changes[one.id],
            profile=found.get(one.id),
            versions=versions,
            measure=_build_measure(one.id, period, used[one.id]),
        )
        for one in organizations
    ]


def _build_measure(
    organization_id: UUID, period: Period, used: dict[str, int]
) -> Callable[[datetime, datetime], dict[str, int]]:
    """Return a function that measures parts of a period, for which `used` is known."""

    def measure(start: datetime, end: datetime) -> dict[str, int]:
        if (start, end) == (period.start, period.end):
            return used
        with tenancy.organization(organization_id):
            return usage.measure_period(start, end)

    return measure


def change_status(invoice: Invoice, status: InvoiceStatus) -> None:
    """Change the status of a locked invoice, which must allow it."""
    assert status in TRANSITIONS[InvoiceStatus(invoice.status)], f"{invoice.status} to {status}"
    invoice.status = status.value


def emit(event: str, invoice: Invoice) -> None:
    """Emit `invoice.paid` or `invoice.voided`, with the organization bound."""
    assert invoice.number is not None
    payload: emitted_events.InvoicePayload = {
        "invoice_id": invoice.id,
        "number": invoice.number,
    }
    events.emit(event, payload)


def _write_draft(
    invoice: Invoice | None,
    facts: Facts,
    content: Content,
    period: Period,
    configuration: BillingConfiguration,
) -> Invoice:
    profile = facts.profile
    values: dict[str, Any] = {
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
    if invoice is not None:
        for key, value in values.items():
            setattr(invoice, key, value)
        return invoice
    return Invoice(
        organization_id=facts.organization.id,
        kind=InvoiceKind.INVOICE.value,
        status=InvoiceStatus.DRAFT.value,
        period_from=period.start,
        period_to=period.end,
        currency=content.currency,
        **values,
    )
