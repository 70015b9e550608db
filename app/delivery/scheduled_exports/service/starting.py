"""Start the runs of scheduled exports: when they are due, and on request."""

from dataclasses import replace
from datetime import datetime
from typing import Any
from uuid import UUID

from app.delivery.exports.models import Export
from app.delivery.exports.service import creating
from app.delivery.scheduled_exports.models import Mode, ScheduledExport, ScheduledRun, Trigger
from app.delivery.scheduled_exports.queries import records, runs
from app.delivery.scheduled_exports.service.describing import describe_run
from app.delivery.scheduled_exports.service.periods import build_run_filter
from app.kit import cron, db, errors, tenancy
from app.kit.errors import ApiError
from app.kit.logging import get_logger
from app.kit.pagination import Page, PageRequest

log = get_logger(__name__)

_BATCH = 20


def list_runs(export_id: UUID, *, page: PageRequest, **filters: Any) -> Page:
    """Return a page of the runs of a scheduled export, newest first. Raises 404."""
    if records.get(export_id) is None:
        raise errors.not_found()
    found = runs.list_runs(export_id, page, **filters)
    jobs = runs.get_jobs([run.job_id for run in found.items])
    return replace(found, items=[describe_run(run, jobs[run.job_id]) for run in found.items])


def run_now(export_id: UUID, *, created_by: UUID | None, api_key_id: UUID | None) -> dict[str, Any]:
    """Start a run at once, even if the scheduled export is paused, and return the run.

    Raises 404, and 409 `conflict` with `details.job_id` if a run is not over.
    """
    scheduled = records.get(export_id, lock=True)
    if scheduled is None:
        raise errors.not_found()
    active = records.find_active(export_id)
    if active is not None:
        raise errors.conflict("A run of this export is not over.", job_id=str(active))
    job = _start(
        scheduled, Trigger.MANUAL, due_at=None, created_by=created_by, api_key_id=api_key_id
    )
    row = runs.read(job.id)
    assert row is not None
    return describe_run(row[0], row[1])


def start_due_runs() -> int:
    """Start the runs of any organization that are due, and return how many.

    After an outage only the latest missed run is made up. Runs in one transaction.
    """
    due = records.lock_due(_BATCH)
    now = records.read_clock()
    for scheduled in due:
        with tenancy.organization(scheduled.organization_id):
            try:
                _start_due(scheduled, now)
            except ApiError as problem:
                if problem.code == "service_unavailable":
                    # The disk is full: all others wait, too.
                    return 0
                # One that cannot start must not hold up the others.
                log.exception("scheduled_export.not_started", scheduled_export=str(scheduled.id))
            next_run_at = cron.find_next(scheduled.cron, scheduled.time_zone, now)
            records.set_state(scheduled.id, next_run_at=next_run_at)
    return len(due)


def _start_due(scheduled: ScheduledExport, now: datetime) -> None:
    assert scheduled.next_run_at is not None, "it is due"
    due_at = cron.find_latest(scheduled.cron, scheduled.time_zone, scheduled.next_run_at, now)
    with db.session().begin_nested():
        _start(scheduled, Trigger.SCHEDULE, due_at=due_at, created_by=scheduled.created_by)


def _start(
    scheduled: ScheduledExport,
    trigger: Trigger,
    *,
    due_at: datetime | None,
    created_by: UUID | None,
    api_key_id: UUID | None = None,
) -> Export:
    """Create the export job and the record of a run of a locked scheduled export."""
    where = build_run_filter(scheduled, records.read_clock())
    is_incremental = scheduled.mode == Mode.INCREMENTAL
    covers_from = where.get("decided_after") if is_incremental else None
    job = creating.create(
        format_id=scheduled.format,
        where=where,
        options=scheduled.options,
        include={**scheduled.include, "removed": covers_from is not None},
        created_by=created_by,
        api_key_id=api_key_id,
        scheduled_export_id=scheduled.id,
    )
    end = job.filter["decided_before"]
    db.session().add(
        ScheduledRun(
            organization_id=scheduled.organization_id,
            job_id=job.id,
            scheduled_export_id=scheduled.id,
            trigger=trigger.value,
            due_at=due_at,
            covers_from=covers_from,
            covers_until=datetime.fromisoformat(end) if is_incremental else None,
        )
    )
    db.session().flush()
    return job
