"""Periodic work: one run per (name, due time), however many relays tick.

After an outage the latest due time is made up once; the ones before it are not.
"""

from collections.abc import Callable
from datetime import datetime

from sqlalchemy import Index, func, text
from sqlalchemy.orm import Mapped, mapped_column

from app.kit import db, purging
from app.kit.jobs import handlers
from app.kit.jobs.model import enqueue


class ScheduleRun(db.Base):
    """A due time for which a periodic job was started."""

    __tablename__ = "schedule_runs"
    __table_args__ = (Index("ix_schedule_runs_started_at", "started_at"),)

    name: Mapped[str] = mapped_column(primary_key=True)
    due_at: Mapped[datetime] = mapped_column(primary_key=True)
    started_at: Mapped[datetime] = mapped_column(server_default=func.now())


# One statement for the whole schedule, which mostly finds everything started already.
_CLAIM = text(
    """
    INSERT INTO schedule_runs (name, due_at)
    SELECT entry.name, to_timestamp(floor(extract(epoch FROM now()) / every) * every)
    FROM unnest(CAST(:names AS text[]), CAST(:every AS integer[])) AS entry (name, every)
    ON CONFLICT DO NOTHING RETURNING name
    """
)


def tick() -> int:
    """Start what is due, in the caller's transaction; return how many jobs that were.

    A run whose predecessor still waits or runs is left out: they would only queue up.
    """
    entries = list(handlers.SCHEDULE.values())
    values = {"names": [one.name for one in entries], "every": [one.every for one in entries]}
    due = list(db.session().scalars(_CLAIM, values))
    return sum(
        enqueue(
            handlers.SCHEDULE[name].function,
            {},
            organization_id=None,
            unique_key=f"periodic:{name}",
        )
        for name in due
    )


def purge(checkpoint: Callable[[], None]) -> None:
    """Delete runs of more than a week ago, a batch in a transaction."""
    purging.purge("schedule_runs", "started_at < now() - interval '7 days'", checkpoint)
