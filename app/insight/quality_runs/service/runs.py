"""Create quality runs, and change their status. Only a job that holds its lease completes a run."""

from collections.abc import Sequence
from dataclasses import asdict
from datetime import datetime
from typing import TYPE_CHECKING
from uuid import UUID

from app.engines.agreement.tag_keys import build_field_specs
from app.insight.quality_runs import emitted_events
from app.insight.quality_runs.models import TRANSITIONS, QualityRun, RunStatus
from app.insight.quality_runs.queries import records
from app.insight.quality_runs.service.plans import DEFAULT_METRICS
from app.kit import db, errors, events, tenancy
from app.kit.ids import uuid7
from app.kit.jobs import Job, LostLease
from app.schemas.artifact_schemas.service import drafts as artifact_schemas

if TYPE_CHECKING:
    from app.insight.quality_runs.service.computing import RunResults

_FAILURE = {
    "code": "internal_error",
    "message": "The run failed after several attempts. Start a new run.",
}


def create(
    *,
    schema_id: UUID,
    fields: Sequence[str] = (),
    metrics: Sequence[str] = (),
    start: datetime | None = None,
    end: datetime | None = None,
    created_by: UUID | None,
) -> QualityRun:
    """Create a queued run, and emit an event so that a job computes it.

    The end of the period is at most the current time. Raises 400 `validation_error` for an unknown
    schema or field, for a schema without a published version, and for an empty or future period.
    """
    check_fields(schema_id, fields)
    run = QualityRun(
        id=uuid7(),
        schema_id=schema_id,
        fields=list(dict.fromkeys(fields)),
        metrics=list(dict.fromkeys(metrics)) or [metric.value for metric in DEFAULT_METRICS],
        starts_at=start,
        ends_at=check_period(start, end),
        created_by=created_by,
    )
    db.session().add(run)
    events.emit(
        emitted_events.REQUESTED,
        emitted_events.RequestedPayload(run_id=run.id, schema_id=schema_id, created_by=created_by),
    )
    db.session().flush()
    return run


def check_fields(schema_id: UUID, names: Sequence[str]) -> None:
    """Raise 400 if the schema is unknown or has no version, or if a field is in no version."""
    artifact_schemas.check_reference(schema_id)
    versions = records.list_versions(schema_id)
    if not versions:
        raise errors.invalid("This schema has no published version.", "schema_id")
    known_names = {name for version in versions for name in build_field_specs(version.fields)}
    for position, name in enumerate(names):
        if name not in known_names:
            message = "No version of the schema has this field. Write a column as `table.column`."
            raise errors.invalid(message, f"fields.{position}")


def check_period(start: datetime | None, end: datetime | None) -> datetime:
    """Check a period, and return its end, limited to the current time.

    Raises 400 for an empty or future period.
    """
    now = db.utc_now()
    if start is not None and start >= now:
        raise errors.invalid("The start of the period must not be in the future.", "from")
    if start is not None and end is not None and start >= end:
        raise errors.invalid("The end of the period must be after its start.", "to")
    return now if end is None else min(end, now)


def create_runs_for_outdated_schemas() -> None:
    """Create a run for each schema whose tag sets have changed after its last run.

    Only schemas that require several labelers get a run. Requires access across organizations.
    """
    for organization_id, schema_id in records.list_outdated_schemas(DEFAULT_METRICS):
        with tenancy.organization(organization_id):
            create(schema_id=schema_id, created_by=None)


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


def complete(job: Job, run_id: UUID, run_results: "RunResults") -> None:
    """Complete a run and store its results; do nothing if the run has already ended.

    Emits `quality_run.completed`. The lease is locked until the transaction ends, so that no other
    attempt can also complete the run. Raises LostLease if another attempt holds the lease.
    """
    if not job.lock_lease():
        raise LostLease
    run = change_status(run_id, RunStatus.COMPLETED)
    if run is None:
        return
    for name, value in asdict(run_results).items():
        setattr(run, name, value)
    run.progress_total = run.progress_total or 0
    run.progress_done = run.progress_total
    run.finished_at = db.utc_now()
    events.emit(
        emitted_events.COMPLETED, emitted_events.RunPayload(run_id=run.id, schema_id=run.schema_id)
    )


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
        emitted_events.FailedPayload(run_id=run.id, schema_id=run.schema_id, error=run.error),
    )


def reopen(run_id: UUID) -> None:
    """Reopen a failed run for a retry of its job; do nothing if the run has another status."""
    run = change_status(run_id, RunStatus.QUEUED)
    if run is not None:
        run.error = run.started_at = run.finished_at = None
        run.progress_done = 0
        run.progress_total = None


def change_status(run_id: UUID, status: RunStatus) -> QualityRun | None:
    """Lock a run, change its status, and return it.

    Returns None if the run does not exist, or if its current status forbids the change.
    """
    run = records.lock(run_id)
    if run is None or status not in TRANSITIONS[RunStatus(run.status)]:
        return None
    run.status = status.value
    return run
