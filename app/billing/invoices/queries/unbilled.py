"""SQL queries that find closed organizations whose last invoices are not complete."""

from collections.abc import Sequence
from datetime import datetime
from uuid import UUID

from sqlalchemy import select, text

from app.billing.invoices.models import Invoice, InvoiceStatus
from app.billing.periods.service import ISSUE_MONTH
from app.kit import db

_QUEUE = "invoices"
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


def list_first_open_months(organization_ids: Sequence[UUID]) -> dict[UUID, datetime]:
    """Return the start of the first month that still has to be invoiced, by organization id.

    A month still has to be invoiced if the operator has not closed it, or if the job that issues
    its invoices has not completed. Months after the closing of the organization are not considered.
    Organizations without a month to invoice are omitted. Requires access to all organizations.
    """
    values = {
        "ids": [str(id_) for id_ in organization_ids],
        "queue": _QUEUE,
        "issue_month": ISSUE_MONTH,
    }
    return {row.id: row.month for row in db.session().execute(_FIRST_OPEN_MONTHS, values)}


def list_with_unfinished_jobs(organization_ids: Sequence[UUID]) -> set[UUID]:
    """Return the ids of the organizations with an unfinished or failed invoice job of their own.

    Requires access to all organizations.
    """
    values = {"ids": [str(id_) for id_ in organization_ids], "queue": _QUEUE}
    return set(db.session().scalars(_WITH_UNFINISHED_JOBS, values))


def list_with_unrendered_invoices(organization_ids: Sequence[UUID]) -> set[UUID]:
    """Return the ids of the organizations with an issued invoice whose PDF is not rendered yet.

    Requires access to all organizations.
    """
    statement = select(Invoice.organization_id).where(
        Invoice.organization_id.in_(organization_ids),
        Invoice.status != InvoiceStatus.DRAFT,
        Invoice.pdf.is_(None),
    )
    return set(db.session().scalars(statement))
