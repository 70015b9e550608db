"""SQL queries that read and lock invoices, and that claim invoice numbers."""

from collections.abc import Iterator, Sequence
from datetime import datetime
from decimal import Decimal
from typing import NamedTuple
from uuid import UUID

from sqlalchemy import func, select, text

from app.billing.invoices.models import Invoice, InvoiceKind, InvoiceStatus
from app.identity.organizations.models import Organization
from app.kit import db
from app.kit.pagination import CreatedFilters, Page, PageRequest, paginate
from app.kit.periods import build_filter_conditions

_BATCH_SIZE = 1000
# The row stays locked until the commit, so that the numbers of a series have no gaps.
_CLAIM_NUMBERS = text(
    """
    INSERT INTO invoice_series AS series (prefix, last_number) VALUES (:prefix, :count)
    ON CONFLICT (prefix) DO UPDATE SET last_number = series.last_number + excluded.last_number
    RETURNING last_number
    """
)


class InvoiceFilters(CreatedFilters, total=False):
    """Filters for the list of invoices and credit notes."""

    status: str
    kind: str


class CreditedAmounts(NamedTuple):
    """The net amounts (`subtotal`) and the taxes of all credit notes for an invoice, summed up."""

    subtotal: Decimal
    tax: Decimal


def list_page(page: PageRequest, filters: InvoiceFilters) -> Page:
    """Return a page of the invoices and credit notes of the current organization."""
    return paginate(
        select(Invoice).where(*build_filter_conditions(Invoice, filters)),
        page,
        sorts={"created_at": Invoice.created_at, "period": Invoice.period_from},
        unique=Invoice.id,
    )


def get(invoice_id: UUID) -> Invoice | None:
    """Return an invoice of the current organization, or None if it does not exist."""
    return db.session().scalars(select(Invoice).where(Invoice.id == invoice_id)).one_or_none()


def lock(invoice_id: UUID) -> Invoice | None:
    """Lock an invoice of the current organization against other writers, and return it.

    The lock is held until the transaction ends. Returns None if the invoice does not exist.
    """
    statement = (
        select(Invoice)
        .where(Invoice.id == invoice_id)
        .with_for_update(key_share=True)
        .execution_options(populate_existing=True)
    )
    return db.session().scalars(statement).one_or_none()


def list_by_period(
    organization_ids: Sequence[UUID], start: datetime
) -> dict[tuple[UUID, str], Invoice]:
    """Return the invoices for the period that starts at `start`.

    The keys are pairs of organization id and currency. Credit notes are not included.
    """
    statement = select(Invoice).where(
        Invoice.organization_id.in_(organization_ids),
        Invoice.period_from == start,
        Invoice.kind == InvoiceKind.INVOICE,
    )
    return {(row.organization_id, row.currency): row for row in db.session().scalars(statement)}


def list_billed_organizations(end: datetime, *, after: UUID, limit: int) -> list[UUID]:
    """List the ids of organizations to bill for a period that ended at `end`, sorted by id.

    Returns at most `limit` ids that are greater than `after`. The organizations were created before
    `end`, and their erasure has not begun.
    """
    statement = (
        select(Organization.id)
        .where(
            Organization.id > after,
            Organization.created_at < end,
            Organization.erasure.is_(None),
        )
        .order_by(Organization.id)
        .limit(limit)
    )
    return list(db.session().scalars(statement))


def lock_organizations(organization_ids: Sequence[UUID]) -> list[Organization]:
    """Lock organizations against other writers until the transaction ends, and return them.

    Organizations whose erasure has begun are omitted. The erasure of a locked organization cannot
    begin.
    """
    statement = (
        select(Organization)
        .where(Organization.id.in_(organization_ids), Organization.erasure.is_(None))
        .order_by(Organization.id)
        .with_for_update(key_share=True)
        .execution_options(populate_existing=True)
    )
    return list(db.session().scalars(statement))


def list_unrendered_invoices() -> list[UUID]:
    """List the ids of the current organization's issued invoices whose PDF is not rendered yet."""
    statement = (
        select(Invoice.id)
        .where(Invoice.status != InvoiceStatus.DRAFT, Invoice.pdf.is_(None))
        .order_by(Invoice.id)
    )
    return list(db.session().scalars(statement))


def list_draft_periods() -> list[tuple[datetime, datetime]]:
    """List the periods for which the current organization has draft invoices, oldest first."""
    statement = (
        select(Invoice.period_from, Invoice.period_to)
        .where(Invoice.status == InvoiceStatus.DRAFT)
        .distinct()
        .order_by(Invoice.period_from)
    )
    return [(row.period_from, row.period_to) for row in db.session().execute(statement)]


def claim_numbers(prefix: str, count: int) -> range:
    """Claim and return the next numbers of a series.

    The series stays locked until the transaction ends.
    """
    values = {"prefix": prefix, "count": count}
    last_number = int(db.session().execute(_CLAIM_NUMBERS, values).scalar_one())
    return range(last_number - count + 1, last_number + 1)


def sum_credited_amounts(invoice_id: UUID) -> CreditedAmounts:
    """Sum the amounts of all credit notes for an invoice."""
    statement = select(
        func.coalesce(func.sum(Invoice.subtotal), 0),
        func.coalesce(func.sum(Invoice.total - Invoice.subtotal), 0),
    ).where(Invoice.refers_to == invoice_id)
    return CreditedAmounts._make(db.session().execute(statement).one())


def find_by_number(number: str) -> Invoice | None:
    """Find the invoice or credit note with this number in any organization, or return None."""
    return db.session().scalars(select(Invoice).where(Invoice.number == number)).one_or_none()


def list_all(
    *, slug: str | None, status: str | None, period: datetime | None
) -> Iterator[tuple[str, Invoice]]:
    """Yield the invoices and credit notes of all organizations, oldest first.

    Each item is a pair of the organization's slug and the invoice. Arguments that are not None are
    filters; `period` is the start of a billing period. The invoices are read in batches, each in
    its own transaction, because the caller may pause between two items.
    """
    statement = (
        select(Organization.slug, Invoice)
        .join(Organization, Organization.id == Invoice.organization_id)
        .order_by(Invoice.id)
        .limit(_BATCH_SIZE)
    )
    if slug is not None:
        statement = statement.where(Organization.slug == slug)
    if status is not None:
        statement = statement.where(Invoice.status == status)
    if period is not None:
        statement = statement.where(Invoice.period_from == period)
    after: UUID | None = None
    while True:
        batch_statement = statement if after is None else statement.where(Invoice.id > after)
        rows = [(row[0], row[1]) for row in db.session().execute(batch_statement)]
        db.checkpoint()
        yield from rows
        if len(rows) < _BATCH_SIZE:
            return
        after = rows[-1][1].id
