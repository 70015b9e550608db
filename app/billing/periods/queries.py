"""SQL queries for billing periods."""

from datetime import datetime

from sqlalchemy import func, select, text

from app.billing.periods import emitted_events
from app.billing.periods.models import BillingPeriod
from app.kit import db, events

# Organizations that were closed during the period are included, because they get an invoice for
# their last month. Organizations whose erasure has begun are excluded, because their plans and
# usage may already be deleted.
_BILLED_ORGANIZATIONS = (
    "SELECT id FROM organizations WHERE created_at < :ended AND erasure IS NULL"
    " AND (status <> 'closed' OR closed_at IS NULL OR closed_at >= :began)"
)

_CLOSE = text(
    f"""
    INSERT INTO billing_periods (period, organizations)
    SELECT :period, count(*) FROM ({_BILLED_ORGANIZATIONS}) AS billed
    ON CONFLICT DO NOTHING RETURNING period
    """  # noqa: S608 - a constant
)


def get_transaction_time() -> datetime:
    """Return the time at which the current transaction began, according to the database clock."""
    return db.session().scalars(select(func.now())).one()


def close(period: str, began_at: datetime, ended_at: datetime) -> bool:
    """Close a period and return True; return False if it was already closed.

    If another transaction is closing the period, waits until that transaction ends.
    """
    values = {"period": period, "began": began_at, "ended": ended_at}
    return db.session().execute(_CLOSE, values).first() is not None


def emit_closed(
    payload: emitted_events.ClosedPayload, began_at: datetime, ended_at: datetime
) -> None:
    """Emit `billing.period_closed` for each organization that is billed for a period."""
    events.emit_for_organizations(
        emitted_events.CLOSED,
        payload,
        organizations_sql=_BILLED_ORGANIZATIONS,
        began=began_at,
        ended=ended_at,
    )


def find(period: str) -> BillingPeriod | None:
    """Return a closed period, or None if the period is not closed."""
    return db.session().get(BillingPeriod, period)
