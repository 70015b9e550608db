"""SQL queries for the runs of scheduled exports."""

from collections.abc import Collection
from typing import Any, NamedTuple, Unpack
from uuid import UUID

from sqlalchemy import select, true, update
from sqlalchemy.orm import aliased

from app.delivery.exports.models import Export
from app.delivery.scheduled_exports.counters import RUNS
from app.delivery.scheduled_exports.models import DeliveryStatus, ScheduledExport, ScheduledRun
from app.kit import db
from app.kit.pagination import CreatedFilters, Page, PageRequest, paginate_records
from app.kit.tenancy import build_join


class RunRecord(NamedTuple):
    """A run of a scheduled export, with the export job that has the same id."""

    run: ScheduledRun
    job: Export


def list_runs(export_id: UUID, page: PageRequest, **period: Unpack[CreatedFilters]) -> Page:
    """Return a page of the runs of a scheduled export."""
    filters: dict[str, Any] = {"scheduled_export_id": export_id, **period}
    return paginate_records(ScheduledRun, page, filters, source=RUNS, unique=ScheduledRun.job_id)


def get_export_jobs(job_ids: Collection[UUID]) -> dict[UUID, Export]:
    """Return the export jobs with these ids, by id; a run and its export job have the same id."""
    statement = select(Export).where(Export.id.in_(job_ids))
    return {job.id: job for job in db.session().scalars(statement)}


def get_latest_runs(export_ids: Collection[UUID]) -> dict[UUID, RunRecord]:
    """Return the latest run of each scheduled export with its export job, by scheduled export id.

    Scheduled exports that have never run are omitted.
    """
    # This is one index lookup per scheduled export, regardless of the number of its runs.
    latest = (
        select(ScheduledRun)
        .where(build_join(ScheduledRun.scheduled_export_id, ScheduledExport))
        .order_by(ScheduledRun.created_at.desc(), ScheduledRun.job_id.desc())
        .limit(1)
        .lateral("latest")
    )
    run = aliased(ScheduledRun, latest)
    statement = (
        select(run, Export)
        .select_from(ScheduledExport)
        .join(run, true())
        .join(Export, build_join(run.job_id, Export))
        .where(ScheduledExport.id.in_(export_ids))
    )
    records = map(RunRecord._make, db.session().execute(statement))
    return {record.run.scheduled_export_id: record for record in records}


def get(job_id: UUID) -> RunRecord | None:
    """Return a run with its export job, or None if the run does not exist."""
    statement = select(ScheduledRun, Export).join(Export, build_join(ScheduledRun.job_id, Export))
    return db.find_row(RunRecord, statement.where(ScheduledRun.job_id == job_id))


def lock(job_id: UUID) -> ScheduledRun | None:
    """Lock a run until the transaction ends and return it, or None if it does not exist."""
    statement = select(ScheduledRun).where(ScheduledRun.job_id == job_id).with_for_update()
    options = {"populate_existing": True}
    return db.session().execute(statement, execution_options=options).scalar_one_or_none()


def set_sent_bytes(job_id: UUID, sent_bytes: int) -> bool:
    """Record how many bytes of a run's file have been sent.

    Returns False if the delivery is no longer pending, or if the run was deleted.
    """
    statement = (
        update(ScheduledRun)
        .where(
            ScheduledRun.job_id == job_id,
            ScheduledRun.delivery_status == DeliveryStatus.PENDING.value,
        )
        .values(sent_bytes=sent_bytes)
    )
    return bool(db.execute_bulk(statement).rowcount)  # type: ignore[attr-defined]
