"""SQL of billing periods."""

from datetime import datetime

from sqlalchemy import func, select, text

from app.billing.periods.models import BillingPeriod
from app.kit import db, events

# What a month is billed for: whoever was there in it. A closed organization has a last invoice; of
# an erased one nothing is left to bill.
_BILLED = "SELECT id FROM organizations WHERE created_at < :ended AND status <> 'erased'"

_CLOSE = text(
    f"""
    INSERT INTO billing_periods (period, organizations)
    SELECT :period, count(*) FROM ({_BILLED}) AS billed
    ON CONFLICT DO NOTHING RETURNING period
    """  # noqa: S608 - a constant
)


def now() -> datetime:
    """The database's clock, which judges whether a month has ended."""
    return db.session().scalars(select(func.now())).one()


def close(period: str, ended: datetime) -> bool:
    """Write that `period`, which ended at `ended`, is closed; False when it was closed before.

    Of several at once one writes; the others wait for its commit.
    """
    values = {"period": period, "ended": ended}
    return db.session().execute(_CLOSE, values).first() is not None


def tell(name: str, data: dict[str, str], ended: datetime) -> int:
    """Emit an event for each organization that is billed."""
    return events.emit_each(name, data, organizations=_BILLED, ended=ended)


def is_closed(period: str) -> bool:
    """Return whether `period` is closed."""
    return db.session().get(BillingPeriod, period) is not None


def get(period: str) -> BillingPeriod:
    """A closed period."""
    return db.session().scalars(select(BillingPeriod).filter_by(period=period)).one()
