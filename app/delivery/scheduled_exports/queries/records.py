"""SQL queries that read, lock and update scheduled exports."""

from datetime import datetime
from uuid import UUID

from sqlalchemy import ColumnElement, Select, exists, func, or_, select, update

from app.delivery.exports.models import Export, ExportStatus
from app.delivery.scheduled_exports.models import DeliveryStatus, ScheduledExport, ScheduledRun
from app.identity.organizations.models import CLOSED_STATUSES, Organization
from app.kit import db, tenancy
from app.kit.pagination import CreatedFilters, Page, PageRequest, build_period_conditions, paginate
from app.kit.tenancy import build_join

_ACTIVE_STATUS = "active"
# If the export job of a run is completed, its file may still have to be delivered.
_UNFINISHED_STATUSES = (
    ExportStatus.QUEUED.value,
    ExportStatus.RUNNING.value,
    ExportStatus.COMPLETED.value,
)


class ScheduledExportFilters(CreatedFilters, total=False):
    """Filters for the list of scheduled exports."""

    paused: bool
    format_id: str


def list_scheduled_exports(
    page: PageRequest,
    *,
    paused: bool | None = None,
    format_id: str | None = None,
    created_after: datetime | None = None,
    created_before: datetime | None = None,
) -> Page:
    """Return a page of the current organization's scheduled exports that match the filters."""
    conditions: list[ColumnElement[bool]] = [
        *build_period_conditions(ScheduledExport.created_at, created_after, created_before)
    ]
    if paused is not None:
        conditions.append(ScheduledExport.paused == paused)
    if format_id is not None:
        conditions.append(ScheduledExport.format == format_id)
    sort_columns = {"created_at": ScheduledExport.created_at, "name": ScheduledExport.name}
    statement = select(ScheduledExport).where(*conditions)
    return paginate(statement, page, sort_columns=sort_columns, unique=ScheduledExport.id)


def get(export_id: UUID, *, lock: bool = False) -> ScheduledExport | None:
    """Return a scheduled export, or None if it does not exist.

    If `lock` is true, the row is locked until the transaction ends.
    """
    statement = select(ScheduledExport).where(ScheduledExport.id == export_id)
    if lock:
        statement = statement.with_for_update(key_share=True)
    options = {"populate_existing": lock}
    return db.session().execute(statement, execution_options=options).scalar_one_or_none()


def set_state(export_id: UUID, **state: object) -> None:
    """Update columns that users do not edit; keep the revision and the time of the last update."""
    statement = (
        update(ScheduledExport)
        .where(ScheduledExport.id == export_id)
        .values(updated_at=ScheduledExport.updated_at, **state)
        .execution_options(synchronize_session="fetch")
    )
    db.session().execute(statement)


def get_transaction_time() -> datetime:
    """Return the time at which the transaction began, according to the database's clock."""
    now: datetime = db.session().execute(select(func.now())).scalar_one()
    return now


def is_organization_closed() -> bool:
    """Return whether the current organization is closed."""
    statement = select(Organization.status).where(
        Organization.id == tenancy.current_organization_id()
    )
    return db.session().scalar(statement) in CLOSED_STATUSES


def lock_due_exports(limit: int) -> list[ScheduledExport]:
    """Lock and return at most `limit` due scheduled exports in active organizations.

    A scheduled export with a run that has not ended is not returned. It stays due, and can be
    returned after the run has ended. Rows that other transactions have locked are skipped.
    """
    has_unfinished_run = exists(
        _select_unfinished_job_ids().where(
            build_join(ScheduledRun.scheduled_export_id, ScheduledExport)
        )
    )
    statement = (
        select(ScheduledExport)
        .join(Organization, Organization.id == ScheduledExport.organization_id)
        .where(
            ScheduledExport.next_run_at <= func.now(),
            Organization.status == _ACTIVE_STATUS,
            ~has_unfinished_run,
        )
        .order_by(ScheduledExport.next_run_at)
        .limit(limit)
        .with_for_update(of=ScheduledExport, skip_locked=True, key_share=True)
    )
    return list(db.session().execute(statement).scalars())


def find_unfinished_job_id(export_id: UUID) -> UUID | None:
    """Return the job id of a scheduled export's unfinished run, or None if all runs have ended."""
    statement = _select_unfinished_job_ids().where(ScheduledRun.scheduled_export_id == export_id)
    return db.session().execute(statement.limit(1)).scalar_one_or_none()


def has_unfinished_covering_run(run: ScheduledRun) -> bool:
    """Return whether a later run that has not ended covers the whole period of an incremental run.

    This happens if a run is retried after the next run has started.
    """
    begins_before: ColumnElement[bool] = ScheduledRun.covers_from.is_(None)
    if run.covers_from is not None:
        begins_before = or_(begins_before, ScheduledRun.covers_from <= run.covers_from)
    statement = _select_unfinished_job_ids().where(
        ScheduledRun.scheduled_export_id == run.scheduled_export_id,
        ScheduledRun.covers_until > run.covers_until,
        begins_before,
    )
    return db.session().execute(statement.limit(1)).first() is not None


def _select_unfinished_job_ids() -> Select[UUID]:
    """Select the job ids of runs that have not ended."""
    return (
        select(ScheduledRun.job_id)
        .join(Export, build_join(ScheduledRun.job_id, Export))
        .where(
            ScheduledRun.delivery_status == DeliveryStatus.PENDING.value,
            Export.status.in_(_UNFINISHED_STATUSES),
        )
    )
