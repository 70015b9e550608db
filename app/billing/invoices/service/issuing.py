"""Create the invoices for a closed period, and issue them with the next numbers of a series."""

from collections.abc import Callable, Iterable, Sequence
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from app.billing.invoices import emitted_events, queries
from app.billing.invoices.models import TRANSITIONS, Invoice, InvoiceKind, InvoiceStatus
from app.billing.invoices.service import computing, documents
from app.billing.invoices.service.computing import InvoiceContent, InvoiceInputs
from app.billing.invoices.service.dumping import dump_line, dump_party, dump_seller, dump_tax
from app.billing.plan_changes import service as plan_changes
from app.billing.plan_changes.versions import PlanVersions
from app.billing.profiles import service as profiles
from app.billing.seller.configuration import BillingConfiguration, require_configuration
from app.billing.usage.service import measuring
from app.identity.organizations.models import Organization
from app.kit import db, events, tenancy
from app.kit.days import TimeRange
from app.kit.events import EventName
from app.kit.logging import get_logger

log = get_logger(__name__)
BATCH_SIZE = 100
"""The maximum number of organizations whose invoices are issued in one transaction."""
_TENANCY_REASON = "the invoices of many organizations are created in one transaction"


def list_billed_organization_ids(end: datetime, *, after: UUID) -> list[UUID]:
    """List the ids of the next organizations to bill for a period that ended at `end`.

    Returns at most `BATCH_SIZE` ids that are greater than `after`, in ascending order.
    """
    with tenancy.across_organizations(reason=_TENANCY_REASON):
        return queries.list_billed_organization_ids(end, after=after, limit=BATCH_SIZE)


def issue_many(organization_ids: Sequence[UUID], start: datetime, end: datetime) -> list[Invoice]:
    """Create and issue the invoices of organizations for a period that has ended.

    First applies due plan changes and settles the usage. Returns the invoices that this call
    created or updated, including those that are still drafts. A repeated call does not issue
    invoices again. No invoice is created if no amount is due; a draft for which no amount is due
    any more is deleted. Organizations whose erasure has begun are skipped, because their plans and
    usage may already be deleted. An invoice stays a draft if the organization has no billing
    profile, or if the invoice cannot be rendered. Emits `invoices.issued`. Raises BillingFileError
    if no billing file is set or the file is invalid.
    """
    configuration = require_configuration()
    period = TimeRange(start, end)
    with tenancy.across_organizations(reason=_TENANCY_REASON):
        organizations = queries.lock_organizations(organization_ids)
        billed_ids = [organization.id for organization in organizations]
        plan_changes.apply_due_changes(billed_ids)
        invoices = queries.get_by_period(billed_ids, start)
        issued_keys = {key for key, row in invoices.items() if row.status != InvoiceStatus.DRAFT}
        # An organization can have an issued invoice in one currency and a draft in another. Such an
        # organization is not done.
        draft_keys = invoices.keys() - issued_keys
        done_ids = {id_ for id_, _ in issued_keys} - {id_ for id_, _ in draft_keys}
        pending_organizations = [row for row in organizations if row.id not in done_ids]
        drafts = []
        for inputs in _collect_inputs(pending_organizations, period):
            for content in computing.compute(inputs, period, configuration):
                key = (inputs.organization.id, content.currency)
                if key not in issued_keys:
                    drafts.append(
                        _create_or_update_draft(
                            invoices.get(key), inputs, content, period, configuration
                        )
                    )
        _delete_obsolete_drafts(invoices.values(), drafts)
        issue([invoice for invoice in drafts if _can_be_issued(invoice)], configuration)
        db.session().add_all(drafts)
        db.session().flush()
    return drafts


def issue_period(organization_id: UUID, start: datetime, end: datetime) -> list[Invoice]:
    """Create and issue the invoices of one organization for a period that has ended.

    Returns the same invoices, and raises the same errors, as `issue_many`.
    """
    return issue_many([organization_id], start, end)


def issue_drafts(organization_id: UUID) -> list[Invoice]:
    """Compute the current organization's draft invoices again, and issue them.

    Returns the same invoices, and raises the same errors, as `issue_many` for each period.
    """
    return [
        invoice
        for start, end in queries.list_draft_periods()
        for invoice in issue_period(organization_id, start, end)
    ]


def issue(invoices: Sequence[Invoice], configuration: BillingConfiguration) -> None:
    """Issue drafts of the same type and period with the next numbers in their series.

    Emits `invoices.issued` once for each organization. Requires access to all organizations. The
    series stays locked until the commit, so that each number is used exactly once.
    """
    if not invoices:
        return
    now = plan_changes.get_database_time()
    is_credit_note = invoices[0].kind == InvoiceKind.CREDIT_NOTE
    prefix = configuration.build_prefix(is_credit_note=is_credit_note, at=now)
    numbers = queries.claim_numbers(prefix, len(invoices))
    for invoice, number in zip(invoices, numbers, strict=True):
        invoice.number = configuration.format_number(prefix, number)
        change_status(invoice, InvoiceStatus.ISSUED)
        invoice.issued_at = now
        if not is_credit_note:
            invoice.due_at = now + timedelta(days=configuration.payment_days)
    db.session().add_all(invoices)
    events.emit_for_organizations(
        emitted_events.ISSUED,
        emitted_events.IssuedPayload(period_from=invoices[0].period_from),
        organizations_sql="SELECT id FROM unnest(CAST(:ids AS uuid[])) AS issued (id)",
        ids=sorted({str(invoice.organization_id) for invoice in invoices}),
    )


def _collect_inputs(
    organizations: Sequence[Organization], period: TimeRange
) -> list[InvoiceInputs]:
    """Settle the usage of locked organizations, and collect the inputs for their invoices."""
    if not organizations:
        return []
    ids = [organization.id for organization in organizations]
    measuring.settle_many(ids, period.end)
    quantities = measuring.measure_many(ids, period.start, period.end)
    changes = plan_changes.get_changes(ids, period.start)
    profiles_by_id = profiles.find_many(ids)
    versions = PlanVersions()
    return [
        InvoiceInputs(
            organization=organization,
            changes=changes[organization.id],
            profile=profiles_by_id.get(organization.id),
            versions=versions,
            measure=_build_measure_function(organization.id, period, quantities[organization.id]),
        )
        for organization in organizations
    ]


def _build_measure_function(
    organization_id: UUID, period: TimeRange, quantities: dict[str, int]
) -> Callable[[datetime, datetime], dict[str, int]]:
    """Build a function that measures the usage in a part of a period.

    `quantities` is the usage in the whole period, which has already been measured.
    """

    def measure(start: datetime, end: datetime) -> dict[str, int]:
        if (start, end) == period:
            return quantities
        with tenancy.organization(organization_id):
            return measuring.measure_period(start, end)

    return measure


def change_status(invoice: Invoice, status: InvoiceStatus) -> None:
    """Change the status of a locked invoice. The transition must be in `TRANSITIONS`."""
    assert status in TRANSITIONS[InvoiceStatus(invoice.status)], f"{invoice.status} to {status}"
    invoice.status = status.value


def emit(event: EventName[emitted_events.InvoicePayload], invoice: Invoice) -> None:
    """Emit `invoice.paid` or `invoice.voided` for the current organization."""
    assert invoice.number is not None
    payload: emitted_events.InvoicePayload = {"invoice_id": invoice.id, "number": invoice.number}
    events.emit(event, payload)


def _delete_obsolete_drafts(invoices: Iterable[Invoice], drafts: Sequence[Invoice]) -> None:
    """Delete the drafts in `invoices` that are not in `drafts`, because no amount is due."""
    kept_ids = {invoice.id for invoice in drafts}
    for invoice in invoices:
        if invoice.status == InvoiceStatus.DRAFT and invoice.id not in kept_ids:
            db.session().delete(invoice)


def _can_be_issued(draft: Invoice) -> bool:
    """Return whether a draft has a buyer and can be rendered. Logs why it cannot be rendered.

    An issued invoice cannot be changed. An invalid invoice would therefore keep its number and
    never get a PDF.
    """
    if draft.buyer is None:
        return False
    problem = documents.find_problem(draft)
    if problem is not None:
        log.error(
            "invoices.not_issued",
            organization_id=str(draft.organization_id),
            period=draft.period_from.isoformat(),
            error=problem,
        )
    return problem is None


def _create_or_update_draft(
    invoice: Invoice | None,
    inputs: InvoiceInputs,
    content: InvoiceContent,
    period: TimeRange,
    configuration: BillingConfiguration,
) -> Invoice:
    profile = inputs.profile
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
        organization_id=inputs.organization.id,
        kind=InvoiceKind.INVOICE.value,
        status=InvoiceStatus.DRAFT.value,
        period_from=period.start,
        period_to=period.end,
        currency=content.currency,
        **values,
    )
