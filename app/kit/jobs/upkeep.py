"""The kit's own housekeeping."""

from datetime import timedelta

from sqlalchemy import text

from app.kit import container, db, idempotency, schedule
from app.kit.jobs.handlers import Job, handler, periodic

_STAGED = timedelta(hours=1)

_PURGES = (
    "DELETE FROM jobs WHERE finished_at < now() - interval '7 days'",
    "DELETE FROM outbox_events WHERE created_at < now() - interval '7 days'",
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
