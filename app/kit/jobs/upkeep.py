"""The kit's own housekeeping, and what it tells the metrics of its queues."""

from collections.abc import Iterable
from datetime import timedelta

from sqlalchemy import text

from app.kit import container, db, idempotency, metrics, schedule, tenancy
from app.kit.jobs.handlers import Job, handler, periodic

_STAGED = timedelta(hours=1)

_PURGES = (
    "DELETE FROM jobs WHERE finished_at < now() - interval '7 days'",
    "DELETE FROM outbox_events WHERE created_at < now() - interval '7 days'",
)
_DEPTH = text(
    """
    SELECT queue, count(*), extract(epoch FROM now() - min(due_at))
    FROM jobs WHERE due_at <= now() GROUP BY queue
    """
)


@handler("kit.purge", lease_seconds=300)
def purge(_job: Job) -> None:
    """Forget finished jobs, old events, idempotency keys and schedule runs."""
    for statement in _PURGES:
        db.session().execute(text(statement))
    idempotency.purge()
    schedule.purge()


@handler("kit.sweep", lease_seconds=300)
def sweep(job: Job) -> None:
    """Remove files that were staged by requests and jobs that never came to their end."""
    job.checkpoint()
    container.current().storage.sweep("staging", _STAGED)


periodic("kit.purge", every=3600)
periodic("kit.sweep", every=3600)


def readings() -> Iterable[metrics.QueueReading]:
    """Depth and age of the jobs' queues."""
    with (
        tenancy.across_organizations(reason="the operator's metrics count all work"),
        db.engine().connect() as connection,
    ):
        rows = connection.execute(_DEPTH).all()
    return [metrics.QueueReading(queue, depth, float(age)) for queue, depth, age in rows]


metrics.register_collector(readings)
