"""The schedule of periodic jobs. A job is enqueued at most once for each due time.

This also holds if several relays run. After an outage, a job is enqueued only for the latest due
time that it missed.
"""

from datetime import datetime

from sqlalchemy import Index, func, text
from sqlalchemy.orm import Mapped, mapped_column

from app.kit import db
from app.kit.jobs import enqueue
from app.kit.jobs.handlers import SCHEDULE


class ScheduleRun(db.Base):
    """A due time of a periodic job. The relay that inserts the row enqueues the job."""

    __tablename__ = "schedule_runs"
    __table_args__ = (Index("ix_schedule_runs_started_at", "started_at"),)

    name: Mapped[str] = mapped_column(primary_key=True)
    due_at: Mapped[datetime] = mapped_column(primary_key=True)
    started_at: Mapped[datetime] = mapped_column(server_default=func.now())


# One statement for the whole schedule, because usually nothing is due.
_CLAIM = text(
    """
    INSERT INTO schedule_runs (name, due_at)
    SELECT entry.name, to_timestamp(floor(extract(epoch FROM now()) / every) * every)
    FROM unnest(CAST(:names AS text[]), CAST(:every AS integer[])) AS entry (name, every)
    ON CONFLICT DO NOTHING RETURNING name
    """
)


def enqueue_due_jobs() -> None:
    """Enqueue the periodic jobs that are due.

    Runs in the caller's transaction. A job whose previous run has not finished is skipped.
    """
    values = {"names": list(SCHEDULE), "every": list(SCHEDULE.values())}
    for name in db.session().scalars(_CLAIM, values).all():
        enqueue(name, {}, organization_id=None, unique_key=f"periodic:{name}")
