"""SQL queries for invoices, their numbers, and the organizations that still have to be billed."""

from collections.abc import Iterator, Sequence
from datetime import datetime
from decimal import Decimal
from typing import Any, NamedTuple
from uuid import UUID

from sqlalchemy import func, select, text

from app.billing.invoices.models import Invoice, InvoiceKind, InvoiceStatus
from app.billing.periods.service import ISSUE_MONTH
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
    """The sums of the net amounts (`subtotal`) and the taxes of all credit notes for an invoice."""

    subtotal: Decimal
    tax: Decimal


def list_invoices(page: PageRequest, filters: InvoiceFilters) -> Page:
    """Return a page of the invoices and credit notes of the current organization."""
    return paginate(
        select(Invoice).where(*build_filter_conditions(Invoice, filters)),
        page,
        sort_columns={"created_at": Invoice.created_at, "period": Invoice.period_from},
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


def get_by_period(
    organization_ids: Sequence[UUID], start: datetime
) -> dict[tuple[UUID, str], Invoice]:
    """Return the invoices of organizations for the period that starts at `start`.

    The keys are pairs of organization id and currency. Credit notes are not included.
    """
    statement = select(Invoice).where(
        Invoice.organization_id.in_(organization_ids),
        Invoice.period_from == start,
        Invoice.kind == InvoiceKind.INVOICE,
    )
    return {(row.organization_id, row.currency): row for row in db.session().scalars(statement)}


def list_billed_organization_ids(end: datetime, *, after: UUID, limit: int) -> list[UUID]:
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


def list_unrendered_invoice_ids() -> list[UUID]:
    """List the ids of the current organization's invoices that are not drafts and have no PDF."""
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
    """Claim and return the next `count` numbers of the series with this prefix.

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
    *, slug: str | None, status: str | None, period_start: datetime | None
) -> Iterator[tuple[str, Invoice]]:
    """Yield the invoices and credit notes of all organizations, oldest first.

    Each item is a pair of the organization's slug and the invoice. Arguments that are not None are
    filters; `period_start` is the start of a billing period. The invoices are read in batches, each
    in a separate transaction, because the caller may pause between two items.
    """
    filters: dict[Any, object] = {
        Organization.slug: slug,
        Invoice.status: status,
        Invoice.period_from: period_start,
    }
    statement = (
        select(Organization.slug, Invoice)
        .join(Organization, Organization.id == Invoice.organization_id)
        .where(*(column == value for column, value in filters.items() if value is not None))
        .order_by(Invoice.id)
        .limit(_BATCH_SIZE)
    )
    after = UUID(int=0)
    while True:
        batch = db.session().execute(statement.where(Invoice.id > after))
        rows = [(row[0], row[1]) for row in batch]
        db.checkpoint()
        yield from rows
        if len(rows) < _BATCH_SIZE:
            return
        after = rows[-1][1].id


_JOB_QUEUE = "invoices"
# No invoices are expected for months before the first closed billing period.
_FIRST_OPEN_MONTHS = text(
    """
    WITH issuing AS (
        SELECT args ->> 'from' AS began FROM jobs
        WHERE queue = :queue AND due_at > '-infinity' AND function = :issue_month
        UNION ALL
        SELECT args ->> 'from' FROM jobs WHERE status = 'failed' AND function = :issue_month
    ), closed AS (
        SELECT id, date_trunc('month', created_at AT TIME ZONE 'UTC') AS first_month,
            date_trunc('month', closed_at AT TIME ZONE 'UTC') AS last_month
        FROM organizations WHERE id = ANY(CAST(:ids AS uuid[])) AND closed_at IS NOT NULL
    ), billing AS (
        SELECT to_date(min(period), 'YYYY-MM')::timestamp AS first_month FROM billing_periods
    )
    SELECT closed.id, min(month) AT TIME ZONE 'UTC' AS month
    FROM closed, billing, generate_series(
        greatest(closed.first_month, least(billing.first_month, closed.last_month)),
        closed.last_month, interval '1 month') AS month
    WHERE to_char(month, 'YYYY-MM') NOT IN (SELECT period FROM billing_periods)
        OR to_char(month, 'YYYY-MM-DD"T00:00:00Z"') IN (SELECT began FROM issuing)
    GROUP BY closed.id
    """
)
_WITH_UNFINISHED_JOBS = text(
    """
    SELECT organization_id FROM jobs
    WHERE queue = :queue AND due_at > '-infinity' AND organization_id = ANY(CAST(:ids AS uuid[]))
    UNION
    SELECT organization_id FROM jobs
    WHERE status = 'failed' AND queue = :queue AND organization_id = ANY(CAST(:ids AS uuid[]))
    """
)


def get_first_open_months(organization_ids: Sequence[UUID]) -> dict[UUID, datetime]:
    """Return the start of the first month that still has to be invoiced, by organization id.

    A month still has to be invoiced if the operator has not closed it, or if the job that issues
    its invoices has not completed. Considers the month in which the organization was closed, and
    earlier months back to the first closed billing period. Organizations that are not closed or
    have no month to invoice are omitted. Requires access to all organizations.
    """
    values = {
        "ids": [str(id_) for id_ in organization_ids],
        "queue": _JOB_QUEUE,
        "issue_month": ISSUE_MONTH,
    }
    return {row.id: row.month for row in db.session().execute(_FIRST_OPEN_MONTHS, values)}


def list_organization_ids_with_unfinished_jobs(organization_ids: Sequence[UUID]) -> set[UUID]:
    """Return the ids of the organizations to which an unfinished or failed invoice job belongs.

    A job that issues the invoices of a batch of organizations belongs to no organization, so it is
    not considered. Requires access to all organizations.
    """
    values = {"ids": [str(id_) for id_ in organization_ids], "queue": _JOB_QUEUE}
    return set(db.session().scalars(_WITH_UNFINISHED_JOBS, values))


def list_organization_ids_with_unrendered_invoices(organization_ids: Sequence[UUID]) -> set[UUID]:
    """Return the ids of the organizations with an invoice that is not a draft and has no PDF.

    Requires access to all organizations.
    """
    statement = select(Invoice.organization_id).where(
        Invoice.organization_id.in_(organization_ids),
        Invoice.status != InvoiceStatus.DRAFT,
        Invoice.pdf.is_(None),
    )
    return set(db.session().scalars(statement))
