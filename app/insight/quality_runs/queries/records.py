"""SQL queries for the records of quality runs."""

from collections.abc import Collection, Sequence
from datetime import datetime
from typing import Any, NamedTuple, Unpack
from uuid import UUID

import orjson
from sqlalchemy import ColumnElement, or_, select, text, update
from sqlalchemy.orm import undefer

from app.identity.users.models import User
from app.insight.quality_runs.counters import RUNS
from app.insight.quality_runs.models import QualityRun, RunStatus
from app.kit import db
from app.kit.pagination import CreatedFilters, Page, PageRequest, paginate_records
from app.schemas.artifact_schemas.models import SchemaVersion


class VersionFields(NamedTuple):
    """A schema version with its fields."""

    id: UUID
    number: int
    fields: list[dict[str, Any]]


class RunFilters(CreatedFilters, total=False):
    """Filters for the list of runs."""

    schema_id: UUID
    status: str


class OutdatedSchema(NamedTuple):
    """A schema that needs several labelers and whose tag sets have changed after its last run."""

    organization_id: UUID
    schema_id: UUID


def get(run_id: UUID) -> QualityRun | None:
    """Return a run with its results, pairs and warnings, or None if it does not exist."""
    statement = (
        select(QualityRun)
        .where(QualityRun.id == run_id)
        .options(
            undefer(QualityRun.results), undefer(QualityRun.pairs), undefer(QualityRun.warnings)
        )
    )
    return db.session().scalars(statement).first()


def lock(run_id: UUID) -> QualityRun | None:
    """Lock a run until the transaction ends, and return it, or None if it does not exist."""
    statement = select(QualityRun).where(QualityRun.id == run_id).with_for_update()
    return db.session().execute(statement, execution_options={"populate_existing": True}).scalar()


def list_runs(*, page: PageRequest, **filters: Unpack[RunFilters]) -> Page:
    """Return a page of runs without their results."""
    return paginate_records(QualityRun, page, filters, source=RUNS)


def find_best_run(
    schema_id: UUID,
    *,
    field: str | None = None,
    metric: str | None = None,
    start: datetime | None = None,
    end: datetime | None = None,
    default_metrics: Sequence[str] = (),
) -> QualityRun | None:
    """Return the completed run of a schema that best fits a query, or None if no run fits.

    The run must cover the field, the metric, the start and the end that are not None. For each
    parameter that is None, the widest runs are preferred: runs over all fields, with all
    `default_metrics`, from the first tag set, or with the latest end. So a newer but narrower run
    is not returned instead of a wide run. Among equal runs, the last finished run is returned.
    """
    conditions: list[ColumnElement[bool]] = []
    order: list[ColumnElement[Any]] = []
    has_all_fields = QualityRun.fields == []
    if field is not None:
        conditions.append(or_(has_all_fields, QualityRun.fields.contains([field])))
    else:
        order.append(has_all_fields.desc())
    if start is not None:
        conditions.append(or_(QualityRun.starts_at.is_(None), QualityRun.starts_at <= start))
    else:
        order.append(QualityRun.starts_at.is_(None).desc())
    if metric is not None:
        conditions.append(QualityRun.metrics.contains([metric]))
    else:
        order.append(QualityRun.metrics.contains(list(default_metrics)).desc())
    if end is not None:
        conditions.append(QualityRun.ends_at >= end)
    else:
        order.append(QualityRun.ends_at.desc())
    return _find_first_run(schema_id, conditions, order)


def _find_first_run(
    schema_id: UUID, conditions: Sequence[ColumnElement[bool]], order: Sequence[ColumnElement[Any]]
) -> QualityRun | None:
    statement = (
        select(QualityRun)
        .where(
            QualityRun.schema_id == schema_id,
            QualityRun.status == RunStatus.COMPLETED.value,
            *conditions,
        )
        .order_by(*order, QualityRun.finished_at.desc(), QualityRun.id.desc())
        .limit(1)
    )
    return db.session().scalars(statement).first()


def update_progress(run_id: UUID, *, done: int, total: int) -> bool:
    """Record the progress of a run; return False if it is no longer running."""
    statement = (
        update(QualityRun)
        .where(QualityRun.id == run_id, QualityRun.status == RunStatus.RUNNING.value)
        .values(progress_done=done, progress_total=total, updated_at=db.utc_now())
    )
    return bool(db.execute_bulk(statement).rowcount)  # type: ignore[attr-defined]


def list_versions(schema_id: UUID) -> list[VersionFields]:
    """Return the published versions of a schema, newest first."""
    statement = (
        select(*db.build_columns(VersionFields._fields, SchemaVersion))
        .where(SchemaVersion.schema_id == schema_id)
        .order_by(SchemaVersion.number.desc())
    )
    return [VersionFields._make(row) for row in db.session().execute(statement)]


_OUTDATED_SCHEMAS = text(
    """
    SELECT s.organization_id, s.id AS schema_id
    FROM schemas s
    JOIN organizations o ON o.id = s.organization_id AND o.status = 'active'
    WHERE CAST(s.review_policy ->> 'labels_per_artifact' AS int) > 1
      AND EXISTS (
        SELECT FROM tag_sets t
        WHERE t.organization_id = s.organization_id AND t.schema_id = s.id
          AND t.status IN ('submitted', 'accepted', 'rejected')
          AND t.updated_at >= coalesce((
            SELECT max(r.ends_at) FROM quality_runs r
            WHERE r.organization_id = s.organization_id AND r.schema_id = s.id
              AND r.fields = '[]' AND r.starts_at IS NULL
              AND r.metrics @> CAST(:metrics AS jsonb)
              AND r.status <> 'failed'), '-infinity'))
    """
)


def list_outdated_schemas(metrics: Sequence[str]) -> list[OutdatedSchema]:
    """Return schemas that need several labelers and whose tag sets changed after their last run.

    The last run is the run with the latest end among the runs over all fields, from the first tag
    set and with all `metrics`, except failed runs. A schema without such a run is returned if it
    has tag sets. Drafts do not count. Requires access across organizations; inactive organizations
    are left out.
    """
    values = {"metrics": orjson.dumps(metrics).decode()}
    return [OutdatedSchema._make(row) for row in db.session().execute(_OUTDATED_SCHEMAS, values)]


class PersonName(NamedTuple):
    """The id and name of a person."""

    id: UUID
    name: str


def get_people(user_ids: Collection[str]) -> dict[str, PersonName]:
    """Return the id and name of each person who still exists, by user id as text."""
    statement = select(User.id, User.name).where(User.id.in_([UUID(key) for key in user_ids]))
    return {str(row.id): PersonName._make(row) for row in db.session().execute(statement)}
