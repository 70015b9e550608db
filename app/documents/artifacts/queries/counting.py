"""SQL queries for the statistics of documents."""

from datetime import datetime, timedelta
from typing import Any, NamedTuple
from uuid import UUID

from sqlalchemy import (
    ColumnElement,
    Integer,
    Label,
    Select,
    Subquery,
    Text,
    Uuid,
    and_,
    cast,
    func,
    literal_column,
    select,
)

from app.documents.artifacts.counters import ARTIFACTS, DUE
from app.documents.artifacts.models.documents import Artifact
from app.documents.artifacts.statuses import CLOSED, ArtifactStatus
from app.kit import counters, db, tenancy
from app.kit.counters import Between, spans
from app.kit.counters.sql import UpperBound
from app.kit.pagination import build_period_conditions
from app.kit.periods import PERIOD_FILTERS, Column, get_created_bounds
from app.schemas.artifact_schemas.models import ArtifactSchema

OPEN_STATUSES = tuple(status for status in ArtifactStatus if status not in CLOSED)
AGE_LIMITS_IN_DAYS = (1, 7, 30)
"""The upper limits of the age groups of open documents, in days."""

_FACETS = ("schema_id", "status", "archived", "gold", "assigned")
_UNASSIGNED: ColumnElement[Any] = literal_column("CAST('[]' AS jsonb)")


class SchemaCounts(NamedTuple):
    """The document counts of a schema, or of all documents without a schema (id None).

    `counts` has the statuses, `total`, `open`, `unassigned`, `gold` and `archived` as keys, and the
    keys that `count_by_schema` adds.
    """

    schema_id: UUID | None
    name: str | None
    counts: dict[str, int]


def count_by_schema(filters: dict[str, Any]) -> list[SchemaCounts]:
    """Count the documents of each schema.

    Schemas are ordered by name; documents without a schema come last. Each row repeats the counts
    over all schemas: `overdue`, `claimed` and, for each N in AGE_LIMITS_IN_DAYS, `since_N`, the
    number of open documents that are at most N days old.
    """
    counts_by_schema = _sum_cells(_select_cells(filters))
    now = db.utc_now()
    open_counts_by_age = {
        f"since_{days}": _build_open_count_since(filters, now - timedelta(days))
        for days in AGE_LIMITS_IN_DAYS
    }
    totals = {
        **open_counts_by_age,
        "overdue": _build_overdue_count(filters, now),
        "claimed": _build_claimed_count(filters),
    }
    statement = (
        select(
            counts_by_schema,
            ArtifactSchema.name,
            *(expression.label(name) for name, expression in totals.items()),
        )
        .outerjoin(ArtifactSchema, ArtifactSchema.id == counts_by_schema.c.schema_id)
        .order_by(ArtifactSchema.name, counts_by_schema.c.schema_id)
    )
    rows = [dict(row) for row in db.session().execute(statement).mappings()]
    return [SchemaCounts(row.pop("schema_id"), row.pop("name"), row) for row in rows]


def _sum_cells(cells: Subquery) -> Subquery:
    is_current = cells.c.archived == "false"
    is_open = and_(is_current, cells.c.status.in_(OPEN_STATUSES))
    counts: dict[str, ColumnElement[bool]] = {
        **{status: and_(is_current, cells.c.status == status) for status in ArtifactStatus},
        "total": is_current,
        "open": is_open,
        "unassigned": and_(is_open, cells.c.assigned == "false"),
        "gold": and_(is_current, cells.c.gold == "true"),
        "archived": cells.c.archived == "true",
    }
    sum_columns = (
        cast(func.coalesce(func.sum(cells.c.n).filter(condition), 0), Integer).label(name)
        for name, condition in counts.items()
    )
    return (
        select(cast(func.nullif(cells.c.schema_id, ""), Uuid).label("schema_id"), *sum_columns)
        .group_by(cells.c.schema_id)
        .having(func.sum(cells.c.n) > 0)
        .subquery()
    )


def _select_cells(filters: dict[str, Any]) -> Subquery:
    where = _build_where(filters)
    if not _has_period(filters):
        return counters.select_cells(ARTIFACTS, _FACETS, where)
    rows = _select_documents(
        filters,
        func.coalesce(cast(Artifact.schema_id, Text), "").label("schema_id"),
        Artifact.status,
        cast(Artifact.archived, Text).label("archived"),
        cast(Artifact.gold, Text).label("gold"),
        cast(Artifact.assignees != _UNASSIGNED, Text).label("assigned"),
    )
    return counters.select_cells_between(
        ARTIFACTS, _FACETS, where, _build_created_period(filters, rows)
    )


def _build_open_count_since(filters: dict[str, Any], start: datetime) -> ColumnElement[int]:
    after = max(filters.get("created_after", start), start)
    rows = _select_open_documents(filters)
    between = _build_created_period({**filters, "created_after": after}, rows)
    return counters.build_total(ARTIFACTS, _build_open_where(filters), between=between)


def _build_overdue_count(filters: dict[str, Any], now: datetime) -> ColumnElement[int]:
    rows = _select_open_documents(filters)
    if _has_period(filters):
        return _build_overdue_count_in_period(filters, now)
    between = Between("due", Artifact.due_at, None, now, rows)
    return counters.build_total(ARTIFACTS, _build_open_where(filters), between=between)


def _build_overdue_count_in_period(filters: dict[str, Any], now: datetime) -> ColumnElement[int]:
    """Build an expression that counts overdue documents in a period of creation times.

    Documents that were due before today are counted from counter cells, the others row by row.
    """
    rows = _select_open_documents(filters)
    # A day of the counters includes its end but not its start.
    today = spans.round_down(now - timedelta(microseconds=1), spans.DAY)
    between = _build_created_period(filters, rows.where(Artifact.due_at <= today))
    due_day = UpperBound(spans.format_bucket(today, spans.DAY))
    where = {**_build_where(filters), "due_day": due_day}
    before_today = counters.build_total(DUE, where, between=between)
    period = build_period_conditions(Artifact.created_at, *get_created_bounds(filters))
    due_today = rows.where(Artifact.due_at > today, Artifact.due_at < now, *period)
    return before_today + counters.count(due_today)


def _build_claimed_count(filters: dict[str, Any]) -> ColumnElement[int]:
    """Build an expression that counts claimed documents row by row.

    This is fast, because there are few claimed documents and an index contains them.
    """
    period = build_period_conditions(Artifact.created_at, *get_created_bounds(filters))
    is_claimed = (Artifact.claim_user_id.is_not(None), Artifact.claim_expires_at > func.now())
    rows = _select_documents(filters, Artifact.id).where(
        Artifact.archived.is_(False), *is_claimed, *period
    )
    return counters.count(rows)


def _build_where(filters: dict[str, Any]) -> dict[str, Any]:
    return {"schema_id": filters["schema_id"]} if "schema_id" in filters else {}


def _build_open_where(filters: dict[str, Any]) -> dict[str, Any]:
    return {**_build_where(filters), "status": list(OPEN_STATUSES), "archived": False}


def _has_period(filters: dict[str, Any]) -> bool:
    return any(name in filters for name in PERIOD_FILTERS)


def _build_created_period(filters: dict[str, Any], rows: Select[Any]) -> Between:
    after, before = get_created_bounds(filters)
    return Between("created", Artifact.created_at, after, before, rows)


def _select_documents(filters: dict[str, Any], *columns: Column | Label[Any]) -> Select[Any]:
    """Select documents of the schema in `filters`, or of all schemas; ignore all other filters."""
    rows = select(*columns).where(Artifact.organization_id == tenancy.current_organization_id())
    if "schema_id" in filters:
        rows = rows.where(Artifact.schema_id == filters["schema_id"])
    return rows


def _select_open_documents(filters: dict[str, Any]) -> Select[Any]:
    is_open = (Artifact.archived.is_(False), Artifact.status.in_(OPEN_STATUSES))
    return _select_documents(filters, Artifact.id).where(*is_open)
