"""Change the status of runs. Only the job that holds the lease completes a run."""

from dataclasses import asdict
from typing import TYPE_CHECKING
from uuid import UUID

from app.insight.quality_runs import emitted_events
from app.insight.quality_runs.models import TRANSITIONS, QualityRun, RunStatus
from app.insight.quality_runs.queries import records
from app.kit import db, events
from app.kit.jobs import Job, LostLease

if TYPE_CHECKING:
    from app.insight.quality_runs.service.computing import RunResults

_FAILURE = {
    "code": "internal_error",
    "message": "The run failed after several attempts. Start a new run.",
}


def start(run_id: UUID) -> QualityRun | None:
    """Start a run from the beginning, even if an earlier attempt was interrupted.

    Returns None if the run does not exist or has already ended.
    """
    run = change_status(run_id, RunStatus.RUNNING)
    if run is not None:
        run.started_at = db.utc_now()
        run.progress_done = 0
        run.progress_total = None
    return run


def complete(job: Job, run_id: UUID, computed: "RunResults") -> None:
    """Complete a run and store its results; do nothing if the run has already ended.

    Emits `quality_run.completed`. The lease is locked until the transaction ends, so that no other
    attempt can also complete the run. Raises LostLease if another attempt holds the lease.
    """
    if not job.lock_lease():
        raise LostLease
    run = change_status(run_id, RunStatus.COMPLETED)
    if run is None:
        return
    for name, value in asdict(computed).items():
        setattr(run, name, value)
    run.progress_total = run.progress_total or 0
    run.progress_done = run.progress_total
    run.finished_at = db.utc_now()
    events.emit(emitted_events.COMPLETED, {"run_id": run.id, "schema_id": run.schema_id})


def fail(run_id: UUID) -> None:
    """Mark a run as failed and emit `quality_run.failed`; do nothing if it has already ended.

    Clients do not see the cause.
    """
    run = change_status(run_id, RunStatus.FAILED)
    if run is None:
        return
    run.error = dict(_FAILURE)
    run.finished_at = db.utc_now()
    events.emit(
        emitted_events.FAILED,
        {"run_id": run.id, "schema_id": run.schema_id, "error": run.error},
    )


def reopen(run_id: UUID) -> None:
    """Reopen a failed run for a retry of its job; do nothing if the run has another status."""
    run = change_status(run_id, RunStatus.QUEUED)
    if run is not None:
        run.error = run.started_at = run.finished_at = None
        run.progress_done = 0
        run.progress_total = None


def change_status(run_id: UUID, status: RunStatus) -> QualityRun | None:
    """Lock a run and change its status; return None if its current status forbids the change."""
    run = records.lock(run_id)
    if run is None or status not in TRANSITIONS[RunStatus(run.status)]:
        return None
    run.status = status.value
    return run
