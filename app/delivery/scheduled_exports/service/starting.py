"""Start of scheduled export runs, when they are due or on request."""

from dataclasses import replace
from datetime import datetime
from typing import Unpack
from uuid import UUID
from zoneinfo import ZoneInfoNotFoundError

from app.delivery.exports.service import creating
from app.delivery.scheduled_exports.models import Mode, ScheduledExport, ScheduledRun, Trigger
from app.delivery.scheduled_exports.queries import records, runs
from app.delivery.scheduled_exports.queries.runs import RunRecord
from app.delivery.scheduled_exports.service.describing import RunDetails, build_run_response
from app.delivery.scheduled_exports.service.periods import build_run_filter
from app.kit import cron, db, errors, tenancy
from app.kit.errors import ApiError
from app.kit.jobs.faults import is_fault
from app.kit.logging import get_logger
from app.kit.pagination import CreatedFilters, Page, PageRequest

log = get_logger(__name__)

_BATCH_SIZE = 20


def list_runs(export_id: UUID, *, page: PageRequest, **filters: Unpack[CreatedFilters]) -> Page:
    """Return a page of the runs of a scheduled export. Raises 404 if it does not exist."""
    errors.require_found(records.get(export_id))
    run_page = runs.list_runs(export_id, page, **filters)
    export_jobs = runs.get_export_jobs([run.job_id for run in run_page.items])
    # A run and its export job may have been deleted since the first query.
    existing_runs = (run for run in run_page.items if run.job_id in export_jobs)
    return replace(
        run_page, items=[build_run_response(run, export_jobs[run.job_id]) for run in existing_runs]
    )


def run_now(export_id: UUID, *, created_by: UUID | None, api_key_id: UUID | None) -> RunDetails:
    """Run a scheduled export now, even if it is paused, and return the run.

    Raises 404 if the scheduled export does not exist, 409 `conflict` with `details.job_id` if
    another run has not ended, and 503 while the disk is full.
    """
    export = errors.require_found(records.get(export_id, lock=True))
    unfinished_job_id = records.find_unfinished_job_id(export_id)
    if unfinished_job_id is not None:
        message = "Another run of this scheduled export has not ended yet. Wait until it ends."
        raise errors.conflict(message, job_id=str(unfinished_job_id))
    run, job = _start_run(
        export, Trigger.MANUAL, due_at=None, created_by=created_by, api_key_id=api_key_id
    )
    return build_run_response(run, job)


def start_due_runs() -> int:
    """Start a batch of due runs in all organizations, and return how many runs were due.

    Returns 0 while the disk is full. After an outage, only the latest missed run of a scheduled
    export is started. Uses the caller's transaction.
    """
    due_exports = records.lock_due_exports(_BATCH_SIZE)
    now = records.get_transaction_time()
    for export in due_exports:
        with tenancy.organization(export.organization_id):
            if records.find_unfinished_job_id(export.id) is not None:
                # A manual run was committed after the query began, but before it locked the row.
                continue
            try:
                _start_due_run(export, now)
            except Exception as problem:
                if is_fault(problem):
                    raise
                if isinstance(problem, ApiError) and problem.code == "service_unavailable":
                    # The disk is full, so all other runs must wait as well.
                    return 0
                # A run that cannot start must not delay the runs of other organizations.
                log.exception("scheduled_export.not_started", scheduled_export=str(export.id))
            records.set_state(export.id, next_run_at=_find_next_run(export, now))
    return len(due_exports)


def _find_next_run(export: ScheduledExport, now: datetime) -> datetime | None:
    """Return the next due time, or None if there is none or the time zone is unknown."""
    try:
        return cron.find_next(export.cron, export.time_zone, now)
    except ZoneInfoNotFoundError:  # the time zone database no longer has the zone
        return None


def _start_due_run(export: ScheduledExport, now: datetime) -> None:
    assert export.next_run_at is not None, "a due export has a next run"
    due_at = cron.find_latest(export.cron, export.time_zone, export.next_run_at, now)
    with db.session().begin_nested():
        _start_run(export, Trigger.SCHEDULE, due_at=due_at, created_by=export.created_by)


def _start_run(
    export: ScheduledExport,
    trigger: Trigger,
    *,
    due_at: datetime | None,
    created_by: UUID | None,
    api_key_id: UUID | None = None,
) -> RunRecord:
    """Start a run of a locked scheduled export, and return it with its new export job."""
    filter_ = build_run_filter(export, records.get_transaction_time())
    is_incremental = export.mode == Mode.INCREMENTAL
    covers_from = filter_.get("decided_after") if is_incremental else None
    include = export.include
    if is_incremental:
        include = {**include, "removed": covers_from is not None}
    job = creating.create(
        format_id=export.format,
        filter_=filter_,
        options=export.options,
        include=include,
        created_by=created_by,
        api_key_id=api_key_id,
        scheduled_export_id=export.id,
    )
    end = job.filter["decided_before"]
    run = ScheduledRun(
        organization_id=export.organization_id,
        job_id=job.id,
        scheduled_export_id=export.id,
        trigger=trigger.value,
        due_at=due_at,
        covers_from=covers_from,
        covers_until=datetime.fromisoformat(end) if is_incremental else None,
    )
    db.session().add(run)
    db.session().flush()
    return RunRecord(run, job)
