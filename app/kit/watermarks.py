"""Watermarks: timestamps before which an organization's records are complete.

The timestamp of a record is set before its transaction commits. A reader that reads the period
after the timestamp was set but before the commit would miss the record, and the next period would
not contain it either. Therefore, the reader first raises the organization's watermark to the end of
the period (`raise_to`) and commits. From then on, no record is committed with an earlier timestamp.
A deferred trigger (`keep_periods_complete`, migration 202611231000) runs when a transaction
commits, and replaces timestamps before the watermark. The reader then waits for the transactions
that have passed this check but are not visible yet (`wait_for_commits`). This takes milliseconds,
regardless of how long transactions are open, and no transaction waits for the reader.

The trigger applies to `created_at` and `decided_at` of tag sets.
"""

from datetime import datetime
from time import monotonic, sleep
from uuid import UUID

from sqlalchemy import text
from sqlalchemy.orm import Mapped

from app.kit import db, tenancy
from app.kit.db import Checkpoint
from app.kit.tenancy import TenantModel

WAIT_SECONDS = 120.0
"""The maximum time in seconds for which a reader waits for transactions that are committing."""

_PAUSE_SECONDS = 0.02


class StillCommitting(Exception):  # noqa: N818 - a signal: run again later
    """A transaction has been committing for longer than `WAIT_SECONDS`."""


class Watermark(TenantModel, db.Base):
    """The end of an organization's latest period that is guaranteed to be complete.

    The table has one row per organization.
    """

    __tablename__ = "watermarks"

    at: Mapped[datetime]


_RAISE = text(
    """
    WITH period AS MATERIALIZED (
        SELECT least(CAST(:period_end AS timestamptz), clock_timestamp()) AS ends_at
    ), raised AS (
        INSERT INTO watermarks (organization_id, at) SELECT :organization_id, ends_at FROM period
        ON CONFLICT (organization_id) DO UPDATE SET at = greatest(watermarks.at, excluded.at)
    )
    SELECT ends_at FROM period
    """
)
# The virtual transaction ids that hold the advisory lock of the trigger.
_LIST_COMMITTING = text(
    """
    SELECT virtualtransaction FROM pg_locks
    WHERE locktype = 'advisory' AND granted AND objsubid = 1
      AND database = (SELECT oid FROM pg_database WHERE datname = current_database())
      AND (CAST(classid AS bigint) << 32) | CAST(objid AS bigint)
          = hashtextextended('commit ' || CAST(:organization_id AS text), 0)
    """
)


def raise_to(period_end: datetime | None) -> datetime:
    """Raise the current organization's watermark to the end of a period, and return the end.

    The end is `period_end`, or the current time if `period_end` is None or in the future. The
    watermark takes effect when the running transaction commits.
    """
    values = {"organization_id": tenancy.current_organization_id(), "period_end": period_end}
    end: datetime = db.session().execute(_RAISE, values).scalar_one()
    return end


def wait_for_commits(checkpoint: Checkpoint) -> None:
    """Wait for the current organization's transactions that are committing when this is called.

    Call this after `raise_to` has been committed. A snapshot that is taken afterwards is complete
    up to the watermark. `checkpoint` ends the caller's transaction before each pause. Raises
    StillCommitting after `WAIT_SECONDS`.
    """
    organization_id = tenancy.current_organization_id()
    pending = _list_committing_transactions(organization_id)
    deadline = monotonic() + WAIT_SECONDS
    while pending:
        checkpoint()
        if monotonic() > deadline:
            raise StillCommitting
        sleep(_PAUSE_SECONDS)
        pending &= _list_committing_transactions(organization_id)


def _list_committing_transactions(organization_id: UUID) -> set[str]:
    return set(db.session().scalars(_LIST_COMMITTING, {"organization_id": organization_id}))
