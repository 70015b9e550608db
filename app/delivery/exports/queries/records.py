"""SQL queries for export jobs."""

from collections.abc import Collection
from datetime import timedelta
from typing import Any, Unpack
from uuid import UUID

from sqlalchemy import ColumnElement, Select, exists, func, or_, select, text, update

from app.delivery.exports.counters import EXPORTS
from app.delivery.exports.models import Export, ExportStatus
from app.documents.artifacts.models.documents import Artifact
from app.identity.organizations.models import Membership
from app.kit import counters, db, tenancy
from app.kit.pagination import KeyQuery, Page, PageRequest, paginate
from app.kit.periods import (
    CreatedFilters,
    build_period_conditions,
    get_created_bounds,
    remove_period,
)
from app.workflow.tag_sets.models import TagSet

_STATUSES_WITHOUT_FILE = (ExportStatus.FAILED, ExportStatus.CANCELLED)


def get(export_id: UUID) -> Export | None:
    """Return an export, or None if it does not exist."""
    return db.session().scalars(select(Export).where(Export.id == export_id)).first()


class ExportFilters(CreatedFilters, total=False):
    """Filters for the list of exports."""

    status: str
    format: str


def list_exports(
    *, page: PageRequest, format_id: str | None = None, **filters: Unpack[ExportFilters]
) -> Page:
    """Return a page of the current organization's exports that match the filters."""
    if format_id is not None:
        filters["format"] = format_id
    facets = remove_period(filters)
    period = build_period_conditions(Export.created_at, *get_created_bounds(filters))
    keys = [_build_keys(facets, period)] if facets else []
    statement = select(Export)
    return paginate(
        statement if keys else statement.where(*period),
        page,
        sort_columns={"created_at": Export.created_at},
        unique=Export.id,
        total=counters.build_filtered_total(EXPORTS, Export, filters),
        key_queries=keys,
    )


def _build_keys(facets: dict[str, Any], period: list[ColumnElement[bool]]) -> KeyQuery:
    """Build the query for a page's keys, which searches each status and format separately.

    Otherwise, the database might read many exports and find only a few that match.
    """
    branches = counters.select_combinations(EXPORTS, ("status", "format"), facets)
    statement: Select[*tuple[Any, ...]] = select(Export.created_at, Export.id).where(
        Export.organization_id == tenancy.current_organization_id(),
        Export.status == branches.c.status,
        Export.format == branches.c.format,
        *period,
    )
    return KeyQuery(statement, branches)


def lock(export_id: UUID) -> Export | None:
    """Lock an export until the transaction ends and return it, or None if it does not exist."""
    statement = select(Export).where(Export.id == export_id).with_for_update()
    return db.session().execute(statement, execution_options={"populate_existing": True}).scalar()


def was_downloaded(entries: Select[Any], actor_id: UUID, *, period: timedelta) -> bool:
    """Return whether an actor downloaded an export within the last `period`.

    `entries` selects the audit entries of the export.
    """
    entry = entries.subquery().c
    statement = select(entry.id).where(
        entry.action == "exports.download",
        entry.actor_id == actor_id,
        entry.at > func.now() - period,
    )
    return db.session().execute(statement.limit(1)).first() is not None


def increment_download_count(export_id: UUID) -> None:
    """Increment the download count of an export; the audit trigger then writes an entry."""
    statement = (
        update(Export)
        .where(Export.id == export_id)
        .values(download_count=Export.download_count + 1, updated_at=Export.updated_at)
    )
    db.execute_bulk(statement)


def update_progress(export_id: UUID, *, done: int, total: int) -> bool:
    """Record the progress of a running export; return False if it is no longer running."""
    statement = (
        update(Export)
        .where(Export.id == export_id, Export.status == ExportStatus.RUNNING.value)
        .values(progress_done=done, progress_total=total, updated_at=db.utc_now())
    )
    return bool(db.execute_bulk(statement).rowcount)  # type: ignore[attr-defined]


def is_running(export_id: UUID) -> bool:
    """Return whether an export exists and has the status `running`."""
    statement = select(Export.status).where(Export.id == export_id)
    return bool(db.session().execute(statement).scalar() == ExportStatus.RUNNING)


def disable_idle_timeout() -> None:
    """Disable the idle timeout for the current transaction, because object stores can be slow."""
    db.session().execute(text("SET LOCAL idle_in_transaction_session_timeout = 0"))


def labeler_exists(user_id: UUID) -> bool:
    """Return whether a user is a member of the organization, or has labeled one of its tag sets."""
    is_member = exists(select(1).select_from(Membership).where(Membership.user_id == user_id))
    has_labeled = exists(select(1).select_from(TagSet).where(TagSet.labeler_id == user_id))
    return bool(db.session().execute(select(or_(is_member, has_labeled))).scalar())


def count_artifacts(artifact_ids: Collection[UUID]) -> int:
    """Return how many of the artifacts exist in the current organization."""
    statement = select(func.count()).select_from(Artifact).where(Artifact.id.in_(artifact_ids))
    return int(db.session().execute(statement).scalar_one())


def lock_exports_with_obsolete_files(grace: timedelta, limit: int) -> list[Export]:
    """Lock and return at most `limit` exports whose file nobody can download any more.

    These are exports whose file expired more than `grace` ago, and exports that failed or were
    cancelled, in all organizations. The lock is held until the transaction ends. Exports that other
    transactions have locked are skipped.
    """
    # Each of the two statements reads one range of the index. For a single statement with OR,
    # PostgreSQL might read the whole index.
    expired_exports = _lock_exports_with_file(Export.expires_at < func.now() - grace, limit)
    has_no_result = Export.expires_at.is_(None) & Export.status.in_(_STATUSES_WITHOUT_FILE)
    return expired_exports + _lock_exports_with_file(has_no_result, limit - len(expired_exports))


def _lock_exports_with_file(condition: ColumnElement[bool], limit: int) -> list[Export]:
    statement = (
        select(Export)
        .where(Export.storage_key.is_not(None), condition)
        .order_by(Export.expires_at)
        .limit(limit)
        .with_for_update(skip_locked=True)
    )
    return list(db.session().execute(statement).scalars())
