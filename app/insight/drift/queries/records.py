"""SQL queries for detections, reports and fixed baselines."""

from collections.abc import Collection
from datetime import date, datetime
from typing import Any, NamedTuple, TypeVar, Unpack
from uuid import UUID

from sqlalchemy import ColumnElement, Select, Uuid, delete, func, or_, select, text
from sqlalchemy.dialects.postgresql import JSONB, insert

from app.insight.drift.counters import NO_LABELER, REPORTS
from app.insight.drift.models import (
    DriftBaseline,
    DriftDetection,
    DriftReport,
    ReportStatus,
)
from app.kit import counters, db, tenancy
from app.kit.pagination import CreatedFilters, Page, PageRequest, build_period_conditions, paginate
from app.schemas.artifact_schemas.models import ArtifactSchema

_Record = TypeVar("_Record", DriftDetection, DriftReport)
MAX_VERSIONS = 100
"""The maximum number of schema versions to compare. Tag sets of older versions are left out."""
SORTS = {"created_at": DriftReport.created_at}


class ReportFilters(CreatedFilters, total=False):
    """Filters for the list of drift reports."""

    schema_id: UUID
    status: str
    subject: str
    field: str
    metric: str


class DetectionPeriods(NamedTuple):
    """The two periods of a detection; ends are exclusive."""

    baseline_from: datetime
    baseline_until: datetime
    current_from: datetime
    current_until: datetime


def list_reports(
    page: PageRequest,
    *,
    labeler_ids: Collection[UUID] | None,
    report_ids: Collection[UUID] | None = None,
    **filters: Unpack[ReportFilters],
) -> Page:
    """Return a page of drift reports.

    Reports about labelers who are not in `labeler_ids` are left out. If `labeler_ids` is None,
    no report is left out. If `report_ids` is not None, only these reports are returned.
    """
    after, before = filters.pop("created_after", None), filters.pop("created_before", None)
    where: dict[str, Any] = {name: value for name, value in filters.items() if value is not None}
    conditions = [getattr(DriftReport, name) == value for name, value in where.items()]
    if labeler_ids is not None:
        where["labeler_id"] = [NO_LABELER, *labeler_ids]
        is_about_labeler = DriftReport.labeler_id.in_(labeler_ids)
        conditions.append(or_(DriftReport.labeler_id.is_(None), is_about_labeler))
    if report_ids is not None:
        where["id"] = report_ids
        conditions.append(DriftReport.id.in_(report_ids))
    rows = select(DriftReport.id).where(*conditions)
    return paginate(
        select(DriftReport).where(
            *conditions, *build_period_conditions(DriftReport.created_at, after, before)
        ),
        page,
        sort_columns=SORTS,
        unique=DriftReport.id,
        total=_build_total(where, rows, after, before),
    )


def _build_total(
    where: dict[str, Any],
    rows: Select[UUID],
    after: datetime | None,
    before: datetime | None,
) -> ColumnElement[int]:
    """Build the SQL expression that counts the reports in a list.

    With a filter by field or id, the rows are counted, because the counters do not have these
    facets.
    """
    if "field" in where or "id" in where:
        return counters.count(
            rows.where(*build_period_conditions(DriftReport.created_at, after, before))
        )
    between = counters.Between("created", DriftReport.created_at, after, before, rows)
    return counters.build_total(REPORTS, where, between=between)


def find(model: type[_Record], record_id: UUID, *, lock: bool = False) -> _Record | None:
    """Return a report or a detection, or None if it does not exist.

    If `lock` is true, the record is locked until the transaction ends.
    """
    statement = select(model).where(model.id == record_id)
    if lock:
        statement = statement.with_for_update().execution_options(populate_existing=True)
    return db.session().execute(statement).scalar_one_or_none()


def lock_reports(schema_id: UUID, status: ReportStatus) -> list[DriftReport]:
    """Lock and return a schema's reports with this status, ordered by `current_until`."""
    statement = (
        select(DriftReport)
        .where(DriftReport.schema_id == schema_id, DriftReport.status == status.value)
        .order_by(DriftReport.current_until, DriftReport.id)
        .with_for_update()
        .execution_options(populate_existing=True)
    )
    return list(db.session().scalars(statement))


class AcknowledgedShift(NamedTuple):
    """A shift, with the latest `current_from` and `current_until` of its acknowledged reports."""

    shift_key: str
    current_from: datetime
    current_until: datetime


def list_acknowledged_shifts(schema_id: UUID) -> list[AcknowledgedShift]:
    """Return the acknowledged shifts of a schema."""
    statement = (
        select(
            DriftReport.shift_key,
            func.max(DriftReport.current_from),
            func.max(DriftReport.current_until),
        )
        .where(
            DriftReport.schema_id == schema_id,
            DriftReport.status == ReportStatus.ACKNOWLEDGED.value,
        )
        .group_by(DriftReport.shift_key)
    )
    return [AcknowledgedShift._make(row) for row in db.session().execute(statement)]


def find_earliest_open_shift_start(schema_id: UUID, before: datetime) -> datetime | None:
    """Return the earliest start of a shift that has an open report and began before `before`.

    Returns None if no shift matches. Differences between a labeler and their peers are left
    out, because they are not shifts over time.
    """
    statement = select(func.min(DriftReport.current_from)).where(
        DriftReport.schema_id == schema_id,
        DriftReport.status == ReportStatus.OPEN.value,
        DriftReport.labeler_id.is_(None),
        DriftReport.current_from < before,
    )
    return db.session().scalar(statement)


def find_unfinished_detection_id(schema_id: UUID) -> UUID | None:
    """Return the id of the schema's unfinished detection, or None if it has none."""
    statement = select(DriftDetection.id).where(
        DriftDetection.schema_id == schema_id, DriftDetection.finished_at.is_(None)
    )
    return db.session().scalar(statement)


def insert_detection(
    schema_id: UUID, periods: DetectionPeriods, *, due_on: date | None, requested_by: UUID | None
) -> UUID | None:
    """Insert a queued detection and return its id.

    Returns None if the schema has an unfinished detection, or a daily detection for the same day.
    """
    now = db.utc_now()
    values = {
        "schema_id": schema_id,
        "due_on": due_on,
        "requested_by": requested_by,
        "created_at": now,
        "updated_at": now,
        **periods._asdict(),
    }
    statement = insert(DriftDetection).values(**values).on_conflict_do_nothing()
    return db.session().scalar(statement.returning(DriftDetection.id))


def get_baseline(schema_id: UUID) -> DriftBaseline | None:
    """Return the fixed baseline of a schema, or None if it has none."""
    statement = select(DriftBaseline).where(DriftBaseline.schema_id == schema_id)
    return db.session().execute(statement).scalar_one_or_none()


def save_baseline(schema_id: UUID, start: datetime, end: datetime, set_by: UUID | None) -> None:
    """Save the fixed baseline of a schema, and replace an earlier fixed baseline."""
    values = {
        "baseline_from": start,
        "baseline_until": end,
        "set_by": set_by,
        "updated_at": db.utc_now(),
    }
    statement = insert(DriftBaseline).values(schema_id=schema_id, **values)
    keys = [DriftBaseline.organization_id, DriftBaseline.schema_id]
    db.session().execute(statement.on_conflict_do_update(index_elements=keys, set_=values))


def delete_baseline(schema_id: UUID) -> None:
    """Delete the fixed baseline of a schema, if it has one."""
    db.session().execute(delete(DriftBaseline).where(DriftBaseline.schema_id == schema_id))


class VersionFieldTypes(NamedTuple):
    """The field types of a schema version, by field key."""

    version_id: UUID
    types: dict[str, str]


_VERSIONS = tenancy.build_text(
    """
    SELECT v.id,
        coalesce((SELECT jsonb_object_agg(field ->> 'key', field ->> 'type')
                  FROM jsonb_array_elements(v.fields) AS field), '{}') AS types
    FROM schema_versions v
    WHERE v.organization_id = :organization_id AND v.schema_id = :schema_id
    ORDER BY v.number DESC LIMIT :limit
    """
).columns(id=Uuid(), types=JSONB())


def list_versions(schema_id: UUID) -> list[VersionFieldTypes]:
    """Return at most `MAX_VERSIONS` versions of a schema with their field types, newest first."""
    values = {"schema_id": schema_id, "limit": MAX_VERSIONS}
    return [VersionFieldTypes._make(row) for row in db.session().execute(_VERSIONS, values)]


def get_schema_name(schema_id: UUID) -> str:
    """Return the name of a schema of the current organization."""
    statement = select(ArtifactSchema.name).where(ArtifactSchema.id == schema_id)
    return db.session().execute(statement).scalar_one()


_SCHEMAS_WITH_WORK = tenancy.build_text(
    """
    SELECT s.id FROM schemas s
    WHERE s.organization_id = :organization_id AND s.id > :after
      AND EXISTS (SELECT FROM tag_sets t
                  WHERE t.organization_id = s.organization_id AND t.schema_id = s.id
                    AND t.status = 'accepted' AND t.decided_at >= :since)
    ORDER BY s.id LIMIT :batch
    """
)


def list_schema_ids_with_work(since: datetime, *, after: UUID, limit: int) -> Collection[UUID]:
    """Return the ids of schemas with work: schemas with tag sets accepted at or after `since`.

    At most `limit` ids above `after` are returned, in ascending order.
    """
    values = {"since": since, "after": after, "batch": limit}
    return list(db.session().scalars(_SCHEMAS_WITH_WORK.columns(id=Uuid()), values))


_ACTIVE_ORGANIZATIONS = text("SELECT id FROM organizations WHERE status = 'active' ORDER BY id")


def list_active_organization_ids() -> list[UUID]:
    """Return the ids of all active organizations. Requires access across organizations."""
    return list(db.session().scalars(_ACTIVE_ORGANIZATIONS.columns(id=Uuid())))
