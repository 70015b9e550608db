"""Periodic work: one run per (name, due time), however many relays tick.

After an outage the latest due time is made up once; the ones before it are not.
"""

from datetime import datetime

from sqlalchemy import func, text
from sqlalchemy.orm import Mapped, mapped_column

from app.kit import db
from app.kit.jobs import handlers
from app.kit.jobs.model import enqueue


class ScheduleRun(db.Base):
    """That a periodic job was started for a due time."""

    __tablename__ = "schedule_runs"

    name: Mapped[str] = mapped_column(primary_key=True)
    due_at: Mapped[datetime] = mapped_column(primary_key=True)
    started_at: Mapped[datetime] = mapped_column(server_default=func.now())


_CLAIM = text(
    """
    INSERT INTO schedule_runs (name, due_at)
    SELECT :name, to_timestamp(floor(extract(epoch FROM now()) / :every) * :every)
    ON CONFLICT DO NOTHING RETURNING due_at
    """
)
_PURGE = text("DELETE FROM schedule_runs WHERE started_at < now() - interval '7 days'")


def tick() -> int:
    """Start what is due, in the running transaction; how many jobs that were."""
    started = 0
    for entry in handlers.SCHEDULE.values():
        claimed = db.session().execute(_CLAIM, {"name": entry.name, "every": entry.every}).first()
        if claimed is not None:
            started += enqueue(entry.function, {}, organization_id=None)
    return started


def purge() -> None:
    """Forget old runs."""
    db.session().execute(_PURGE)
