"""Create quality runs: validate the request, fill in defaults and store the run."""

from collections.abc import Sequence
from datetime import datetime
from uuid import UUID

from app.engines.agreement.places import build_shapes
from app.insight.quality_runs import emitted_events
from app.insight.quality_runs.models import QualityRun
from app.insight.quality_runs.queries import records
from app.insight.quality_runs.service.plans import DEFAULT_METRICS
from app.kit import db, errors, events, tenancy
from app.kit.ids import uuid7
from app.schemas.artifact_schemas.service import drafts as artifact_schemas


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
    schema or field, and for an empty period.
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
        {"run_id": run.id, "schema_id": schema_id, "created_by": created_by},
    )
    db.session().flush()
    return run


def check_fields(schema_id: UUID, names: Sequence[str]) -> None:
    """Raise 400 unless the schema has a published version and each field is in a version."""
    artifact_schemas.check_reference(schema_id)
    versions = records.list_versions(schema_id)
    if not versions:
        raise errors.invalid("This schema has no published version.", "schema_id")
    known_names = {name for version in versions for name in build_shapes(version.fields)}
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


def create_runs_for_outdated_schemas() -> int:
    """Create a run for each outdated schema, and return how many were created.

    A schema is outdated if it requires several labelers, and its tag sets have changed since its
    newest full run. Requires access across organizations.
    """
    outdated_schemas = records.list_outdated_schemas(list(DEFAULT_METRICS))
    for organization_id, schema_id in outdated_schemas:
        with tenancy.organization(organization_id):
            create(schema_id=schema_id, created_by=None)
    return len(outdated_schemas)
