"""SQL queries for billing periods."""

from datetime import datetime

from sqlalchemy import func, select, text

from app.billing.periods.models import BillingPeriod
from app.kit import db, events

# A month is billed for every organization that existed in it. A closed organization gets a last
# invoice; an erased organization has no data left to bill.
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
    """Return the time of the database's clock, which decides whether a month has ended."""
    return db.session().scalars(select(func.now())).one()


def close(period: str, ended: datetime) -> bool:
    """Record that `period`, which ended at `ended`, is closed; return False if it already was.

    If requests run concurrently, one inserts the row, and the others wait for its commit.
    """
    values = {"period": period, "ended": ended}
    return db.session().execute(_CLOSE, values).first() is not None


def emit_for_billed_organizations(event: str, payload: dict[str, str], ended: datetime) -> int:
    """Emit an event for each billed organization, and return the number of organizations."""
    return events.emit_each(event, payload, organizations=_BILLED_ORGANIZATIONS, ended=ended)


def find(period: str) -> BillingPeriod | None:
    """Return a closed period, or None if `period` is not closed."""
    return db.session().get(BillingPeriod, period)
