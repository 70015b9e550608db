"""SQL that reads, locks and numbers invoices."""

from collections.abc import Iterator
from datetime import datetime
from decimal import Decimal
from uuid import UUID

from sqlalchemy import ColumnElement, func, select, text

from app.billing.invoices.models import Invoice, InvoiceKind, InvoiceStatus
from app.identity.organizations.models import Organization
from app.kit import db
from app.kit.pagination import Page, PageRequest, paginate, within

_BATCH = 1000
# The row is locked until the commit, so that the numbers of a series have no gaps.
_NEXT = text(
    """
    INSERT INTO invoice_series AS series (prefix, last_number) VALUES (:prefix, 1)
    ON CONFLICT (prefix) DO UPDATE SET last_number = series.last_number + 1
    RETURNING last_number
    """
)


def list_page(
    page: PageRequest,
    *,
    status: str | None = None,
    kind: str | None = None,
    created_after: datetime | None = None,
    created_before: datetime | None = None,
) -> Page:
    """Return a page of the invoices and credit notes of the bound organization."""
    conditions: list[ColumnElement[bool]] = [
        *within(Invoice.created_at, created_after, created_before)
    ]
    if status is not None:
        conditions.append(Invoice.status == status)
    if kind is not None:
        conditions.append(Invoice.kind == kind)
    return paginate(
        select(Invoice).where(*conditions),
        page,
        sorts={"created_at": Invoice.created_at, "period": Invoice.period_from},
        unique=Invoice.id,
    )


def get(invoice_id: UUID) -> Invoice | None:
    """Return an invoice of the bound organization, or None."""
    return db.session().scalars(select(Invoice).where(Invoice.id == invoice_id)).one_or_none()


def lock(invoice_id: UUID) -> Invoice | None:
    """Return an invoice of the bound organization, locked against other writers, or None."""
    statement = (
        select(Invoice)
        .where(Invoice.id == invoice_id)
        .with_for_update(key_share=True)
        .execution_options(populate_existing=True)
    )
    return db.session().scalars(statement).one_or_none()


def list_of_period(start: datetime) -> dict[str, Invoice]:
    """Return the invoices of the period that begins at `start`, by currency."""
    statement = select(Invoice).where(
        Invoice.period_from == start, Invoice.kind == InvoiceKind.INVOICE
    )
    return {invoice.currency: invoice for invoice in db.session().scalars(statement)}


def list_draft_periods() -> list[tuple[datetime, datetime]]:
    """Return the periods of the drafts of the bound organization, in order."""
    statement = (
        select(Invoice.period_from, Invoice.period_to)
        .where(Invoice.status == InvoiceStatus.DRAFT)
        .distinct()
        .order_by(Invoice.period_from)
    )
    return [(row.period_from, row.period_to) for row in db.session().execute(statement)]


def take_number(prefix: str) -> int:
    """Return the next number of a series, which stays locked until the transaction ends."""
    return int(db.session().execute(_NEXT, {"prefix": prefix}).scalar_one())


def sum_credited(invoice_id: UUID) -> Decimal:
    """Return the net amount of all credit notes of an invoice."""
    statement = select(func.coalesce(func.sum(Invoice.subtotal), 0)).where(
        Invoice.refers_to == invoice_id
    )
    return Decimal(db.session().scalars(statement).one())


def find_by_number(number: str) -> Invoice | None:
    """Return the invoice or credit note with a number, of any organization, or None."""
    return db.session().scalars(select(Invoice).where(Invoice.number == number)).one_or_none()


def list_all(
    *, slug: str | None, status: str | None, period: datetime | None
) -> Iterator[tuple[str, Invoice]]:
    """Yield slug and invoice for all organizations, oldest first, read in batches."""
    statement = (
        select(Organization.slug, Invoice)
        .join(Organization, Organization.id == Invoice.organization_id)
        .order_by(Invoice.id)
        .limit(_BATCH)
    )
    if slug is not None:
        statement = statement.where(Organization.slug == slug)
    if status is not None:
        statement = statement.where(Invoice.status == status)
    if period is not None:
        statement = statement.where(Invoice.period_from == period)
    after: UUID | None = None
    while True:
        remaining = statement if after is None else statement.where(Invoice.id > after)
        rows = [(row[0], row[1]) for row in db.session().execute(remaining)]
        yield from rows
        if len(rows) < _BATCH:
            return
        after = rows[-1][1].id
