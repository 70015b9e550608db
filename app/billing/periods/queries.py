"""SQL queries for billing periods."""

from datetime import datetime

from sqlalchemy import func, select, text

from app.billing.periods.models import BillingPeriod
from app.kit import db, events

# A month is billed for every organization that existed in this month. A closed organization gets a
# last invoice; an erased organization has no data left to bill.
_BILLED_ORGANIZATIONS = (
    "SELECT id FROM organizations WHERE created_at < :ended AND status <> 'erased'"
)

_CLOSE = text(
    f"""
    INSERT INTO billing_periods (period, organizations)
    SELECT :period, count(*) FROM ({_BILLED_ORGANIZATIONS}) AS billed
    ON CONFLICT DO NOTHING RETURNING period
    """  # noqa: S608 - a constant
)


def get_database_time() -> datetime:
    """Return the current time of the database, which determines whether a month has ended."""
    return db.session().scalars(select(func.now())).one()


def close(period: str, ended_at: datetime) -> bool:
    """Close a period, which ended at `ended_at`.

    Returns False if the period was already closed. If requests run concurrently, one request
    inserts the row, and the others wait until it commits.
    """
    values = {"period": period, "ended": ended_at}
    return db.session().execute(_CLOSE, values).first() is not None


def emit_for_billed_organizations(event: str, payload: dict[str, str], ended_at: datetime) -> int:
    """Emit an event for each billed organization; return the number of these organizations."""
    return events.emit_each(event, payload, organizations=_BILLED_ORGANIZATIONS, ended=ended_at)


def find(period: str) -> BillingPeriod | None:
    """Find a closed period; return None if `period` is not closed."""
    return db.session().get(BillingPeriod, period)
