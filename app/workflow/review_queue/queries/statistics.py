"""SQL queries for the number and the age of pending items."""

from typing import Any, NamedTuple
from uuid import UUID

from sqlalchemy import (
    ColumnElement,
    Integer,
    Numeric,
    Select,
    SQLColumnExpression,
    Text,
    Uuid,
    case,
    cast,
    func,
    literal,
    select,
    union_all,
)

from app.kit import counters, db, tenancy
from app.kit.counters import Between, BucketSpan
from app.kit.counters.spans import DAY
from app.kit.counters.sql import StatementBuilder
from app.schemas.artifact_schemas.models import ArtifactSchema
from app.workflow.review_queue.queries.reading import IS_CLAIMED, IS_LISTED
from app.workflow.tag_sets.counters import REVIEWS
from app.workflow.tag_sets.models import TagSet

_COUNT_COLUMNS = ("depth", "unassigned", "escalated", "overdue", "claimed")


class PendingCount(NamedTuple):
    """The number of pending items (`depth`) for a schema, and the number of items in each state."""

    schema_id: UUID
    schema_name: str
    depth: int
    unassigned: int
    escalated: int
    overdue: int
    claimed: int


def count_pending(schema_id: UUID | None) -> list[PendingCount]:
    """Count the pending items of each schema that has any; `schema_id` selects one schema."""
    facet_filters = _build_facet_filters(schema_id)
    cells = counters.select_cells(REVIEWS, ("schema_id", "assigned", "escalated"), facet_filters)
    now = db.utc_now()
    rows = _select_rows(schema_id, cast(TagSet.schema_id, Text).label("schema_id"))
    between = Between("due", TagSet.due_at, None, now, rows)
    overdue = counters.select_cells_between(REVIEWS, ("schema_id",), facet_filters, between)
    claimed_items = rows.where(IS_CLAIMED).subquery()
    parts = (
        _build_counts(
            cells.c.schema_id,
            depth=cells.c.n,
            unassigned=case((cells.c.assigned == "false", cells.c.n), else_=0),
            escalated=case((cells.c.escalated == "true", cells.c.n), else_=0),
        ),
        _build_counts(overdue.c.schema_id, overdue=overdue.c.n),
        _build_counts(claimed_items.c.schema_id, claimed=literal(1)),
    )
    counted_rows = union_all(*parts).subquery()
    schema_column = cast(counted_rows.c.schema_id, Uuid)
    statement = (
        select(
            schema_column.label("schema_id"),
            ArtifactSchema.name.label("schema_name"),
            *(cast(func.sum(counted_rows.c[name]), Integer).label(name) for name in _COUNT_COLUMNS),
        )
        .join(ArtifactSchema, ArtifactSchema.id == schema_column)
        .group_by(counted_rows.c.schema_id, ArtifactSchema.name)
        .having(func.sum(counted_rows.c.depth) > 0)
    )
    return [PendingCount._make(row) for row in db.session().execute(statement)]


def _build_facet_filters(schema_id: UUID | None) -> dict[str, Any]:
    return {"archived": False} | ({} if schema_id is None else {"schema_id": schema_id})


def _select_rows(schema_id: UUID | None, *columns: SQLColumnExpression[Any]) -> Select[Any]:
    in_organization = TagSet.organization_id == tenancy.current_organization_id()
    rows = select(*columns).where(in_organization, IS_LISTED)
    return rows if schema_id is None else rows.where(TagSet.schema_id == schema_id)


def _build_counts(schema_id: ColumnElement[Any], **counts: ColumnElement[int]) -> Select[Any]:
    zeros: dict[str, ColumnElement[int]] = dict.fromkeys(_COUNT_COLUMNS, literal(0))
    columns = (expression.label(name) for name, expression in (zeros | counts).items())
    return select(schema_id.label("schema_id"), *columns)


# The item at a quantile is the n-th youngest item, where n = ceil(quantile * number of items).
# Counters determine the day on which this item was submitted, and how many younger items this day
# has. An index then finds the item within the day. `part` is a schema, or null for all schemas.
_MEASURE_AGES = """
    WITH by_day AS (
        SELECT schema_id AS part, submitted AS day, sum(n) AS n FROM ({cells}) AS cells
        GROUP BY GROUPING SETS ((submitted), (schema_id, submitted)) HAVING sum(n) > 0
    ), cumulated AS (
        SELECT part, CAST(day || 'T00:00Z' AS timestamptz) AS day, n,
               sum(n) OVER (PARTITION BY part ORDER BY day DESC) AS running_total,
               sum(n) OVER (PARTITION BY part) AS total
        FROM by_day
    ), targets AS (
        SELECT part, quantile, day,
               ceil(quantile * total) - (running_total - n) - 1 AS younger
        FROM cumulated CROSS JOIN (VALUES (0.5), (0.9), (1.0)) AS quantiles (quantile)
        WHERE running_total - n < ceil(quantile * total)
          AND ceil(quantile * total) <= running_total
    )
    SELECT CAST(part AS uuid) AS schema_id, quantile, extract(epoch FROM now() - CASE
        WHEN part IS NULL THEN ({all}) ELSE ({of_schema}) END) AS seconds
    FROM targets
"""
_FIND_ITEM_IN_DAY = """
    SELECT submitted_at FROM tag_sets
    WHERE organization_id = {organization} AND status = 'submitted' AND NOT artifact_archived
      {schema} AND submitted_at > day AND submitted_at <= day + interval '1 day'
    ORDER BY submitted_at DESC OFFSET younger LIMIT 1
"""


def measure_ages(schema_id: UUID | None) -> dict[tuple[UUID | None, float], float]:
    """Measure the age in seconds of pending items at the quantiles 0.5, 0.9 and 1 (the oldest).

    The keys of the returned dict are (schema_id, quantile). Ages across all schemas have the
    schema id None.
    """
    statement = StatementBuilder(tenancy.current_organization_id())
    span = BucketSpan("submitted", None, None, DAY)
    cells = statement.select_cells(
        REVIEWS, ("schema_id", "submitted"), _build_facet_filters(schema_id), span
    )
    organization = statement.organization
    schema_condition = (
        "" if schema_id is None else f"AND schema_id = {statement.add(str(schema_id))}"
    )
    sql = _MEASURE_AGES.format(
        cells=cells,
        all=_FIND_ITEM_IN_DAY.format(organization=organization, schema=schema_condition),
        of_schema=_FIND_ITEM_IN_DAY.format(
            organization=organization, schema="AND schema_id = CAST(part AS uuid)"
        ),
    )
    columns = {"schema_id": Uuid(), "quantile": Numeric(), "seconds": Numeric()}
    rows = db.session().execute(statement.as_select(sql, columns))
    return {(row.schema_id, float(row.quantile)): float(row.seconds) for row in rows}
