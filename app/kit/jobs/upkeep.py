"""Periodic jobs that delete old jobs, events, idempotency keys, schedule runs and staged files."""

from datetime import timedelta

from app.kit import container
from app.kit.jobs.handlers import Job, handler
from app.kit.purging import purge as purge_rows

_MAX_STAGED_AGE = timedelta(hours=24)
"""The age after which a staged file is deleted. An export may write to a staged file for hours. A
batch of a crawl keeps its staged files for up to 90 minutes: 16 documents, 3 at a time, 15 minutes
each."""
# Idempotency keys expire after `idempotency.RETENTION`.
_OLD_ROWS = (
    ("jobs", "finished_at < now() - interval '1 day' AND status = 'completed'"),
    ("jobs", "finished_at < now() - interval '30 days' AND status IN ('failed', 'discarded')"),
    ("outbox_events", "created_at < now() - interval '7 days'"),
    ("idempotency_keys", "created_at < now() - interval '24 hours'"),
    ("schedule_runs", "started_at < now() - interval '7 days'"),
)


@handler("kit.purge", queue="maintenance", resumable=True, every=3600)
def purge(job: Job) -> None:
    """Delete old finished jobs, events, idempotency keys and schedule runs."""
    for table, condition in _OLD_ROWS:
        purge_rows(table, condition, job.checkpoint)


@handler("kit.sweep", queue="maintenance", every=3600)
def sweep(job: Job) -> None:
    """Delete unfinished files (`StagedFile`) that interrupted requests and jobs left behind."""
    job.checkpoint()
    container.current().storage.sweep("staging", _MAX_STAGED_AGE)
