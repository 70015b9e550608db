"""SQL queries that count the review decisions in a period.

The waiting time of a decision starts at the previous revision, which is a submission or a
reopening. Automatic decisions (sampling, confidence, agreement) have no author and are not counted.
"""

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Any, NamedTuple
from uuid import UUID

from sqlalchemy import (
    BigInteger,
    ColumnElement,
    DateTime,
    FromClause,
    Integer,
    Select,
    SQLColumnExpression,
    Text,
    Uuid,
    case,
    cast,
    func,
    literal,
    null,
    select,
    union_all,
)
from sqlalchemy.dialects.postgresql import ARRAY

from app.identity.users.models import User
from app.kit import counters, db, tenancy
from app.kit.counters import Between, BucketSpan
from app.kit.counters.spans import HOUR, round_down, round_up
from app.schemas.artifact_schemas.models import ArtifactSchema
from app.workflow.tag_sets.counters import WORK
from app.workflow.tag_sets.models import TagSetRevision

DECISION_TYPES = ("accept", "correction", "reject")
_FACETS = ("kind", "timed", "schema_id", "author_id")
_MICROSECOND = timedelta(microseconds=1)
_IS_TIMED = cast(TagSetRevision.waited_microseconds.is_not(None), Text).label("timed")
_WAITED_MICROSECONDS = func.coalesce(TagSetRevision.waited_microseconds, 0)


class DecisionCount(NamedTuple):
    """The number of decisions of one type, either by schema and reviewer or by day.

    `timed_decisions` is the number of decisions with a waiting time; `waiting_microseconds` is the
    sum of the waiting times.
    """

    schema_id: UUID | None
    schema_name: str | None
    author_id: UUID | None
    email: str | None
    name: str | None
    day: int | None
    kind: str
    decisions: int
    timed_decisions: int
    waiting_microseconds: int


def count_decisions(schema_id: UUID | None, edges: Sequence[datetime]) -> list[DecisionCount]:
    """Count the decisions of each type between the first and the last edge.

    `edges` contains the start time of each day in the period, followed by the end of the period.

    Each decision is counted twice: in a row by schema and reviewer, and in a row by day. Only rows
    by schema and reviewer have ids and names. Day 1 is the interval between the first two edges.
    """
    counted_rows = union_all(
        _select_by_reviewer(schema_id, edges), _select_by_day(schema_id, edges)
    ).subquery()
    schema_column = cast(counted_rows.c.schema_id, Uuid)
    author_column = cast(counted_rows.c.author_id, Uuid)
    statement = (
        select(
            schema_column.label("schema_id"),
            ArtifactSchema.name.label("schema_name"),
            author_column.label("author_id"),
            User.email,
            User.name,
            *(
                counted_rows.c[name]
                for name in ("day", "kind", "decisions", "timed_decisions", "waiting_microseconds")
            ),
        )
        .outerjoin(ArtifactSchema, ArtifactSchema.id == schema_column)
        .outerjoin(User, User.id == author_column)
    )
    return [DecisionCount._make(row) for row in db.session().execute(statement)]


def _select_by_reviewer(schema_id: UUID | None, edges: Sequence[datetime]) -> Select[Any]:
    rows = _select_rows(
        schema_id,
        TagSetRevision.kind,
        _IS_TIMED,
        cast(TagSetRevision.schema_id, Text).label("schema_id"),
        cast(TagSetRevision.author_id, Text).label("author_id"),
        _WAITED_MICROSECONDS.label("measure"),
    )
    decided_at = TagSetRevision.created_at
    between = Between("at", decided_at, edges[0], edges[-1], rows)
    cells = counters.select_cells_between(WORK, _FACETS, _build_facet_filters(schema_id), between)
    columns = (cells.c.schema_id, cells.c.author_id, cells.c.kind)
    no_day = cast(null(), Integer)
    return _sum_cells(cells, cells.c.schema_id, cells.c.author_id, no_day).group_by(*columns)


def _select_by_day(schema_id: UUID | None, edges: Sequence[datetime]) -> Select[Any]:
    """Build a SELECT for the number of decisions by day.

    The numbers come from hourly counters. If a day does not begin on the full hour in UTC, as in
    the time zone +05:30, the decisions in that hour are counted row by row.
    """
    start, end = round_up(edges[0], HOUR), round_down(edges[-1], HOUR)
    split_edges = [edge for edge in edges if round_down(edge, HOUR) != edge]
    hours = [round_down(edge, HOUR).isoformat()[:HOUR] for edge in split_edges]
    parts: list[Select[Any]] = []
    if start < end:
        span = BucketSpan("at", start, end, HOUR)
        facet_filters = _build_facet_filters(schema_id)
        cells = counters.select_cells(WORK, ("at", "kind", "timed"), facet_filters, span=span)
        hour_start = cast(cells.c["at"] + literal(":00:00Z"), DateTime(timezone=True))
        whole_hours = select(
            _build_day_number(hour_start, edges).label("day"),
            cells.c.kind,
            cells.c.timed,
            cells.c.n,
            cells.c.total,
        )
        parts.append(whole_hours.where(cells.c["at"].not_in(hours)) if hours else whole_hours)
    decided_at = TagSetRevision.created_at
    for edge in split_edges:
        hour = round_down(edge, HOUR)
        is_in_hour = (decided_at > hour, decided_at <= hour + timedelta(hours=1))
        rows = _select_signed_rows(schema_id, _build_day_number(decided_at, edges), 1)
        parts.append(rows.where(*is_in_hour, decided_at >= edges[0], decided_at < edges[-1]))
    hour_edges = [edge for edge in edges if edge not in split_edges]
    if hour_edges:
        parts += _select_moved_rows(schema_id, hour_edges, edges)
    counted_rows = union_all(*parts).subquery()
    no_id = cast(null(), Text)
    columns = (counted_rows.c.day, counted_rows.c.kind)
    return _sum_cells(counted_rows, no_id, no_id, counted_rows.c.day).group_by(*columns)


def _select_moved_rows(
    schema_id: UUID | None, hour_edges: Sequence[datetime], edges: Sequence[datetime]
) -> list[Select[Any]]:
    """Build SELECTs that move the decisions at exactly `hour_edges` to the day that starts then.

    An hourly counter includes the end of its hour, so it counts these decisions on the day before.
    They are therefore subtracted from the day before, and added to the day that starts.
    """
    decided_at = TagSetRevision.created_at
    is_on_edge = decided_at.in_(hour_edges)
    day_before = _build_day_number(decided_at - _MICROSECOND, edges)
    day_after = _build_day_number(decided_at, edges)
    return [
        _select_signed_rows(schema_id, day_after, 1).where(is_on_edge, decided_at < edges[-1]),
        _select_signed_rows(schema_id, day_before, -1).where(is_on_edge, decided_at > edges[0]),
    ]


def _build_facet_filters(schema_id: UUID | None) -> dict[str, Any]:
    return {"kind": list(DECISION_TYPES)} | ({} if schema_id is None else {"schema_id": schema_id})


def _select_rows(schema_id: UUID | None, *columns: SQLColumnExpression[Any]) -> Select[Any]:
    rows = select(*columns).where(
        TagSetRevision.organization_id == tenancy.current_organization_id(),
        TagSetRevision.author_id.is_not(None),
        TagSetRevision.kind.in_(DECISION_TYPES),
    )
    return rows if schema_id is None else rows.where(TagSetRevision.schema_id == schema_id)


def _select_signed_rows(schema_id: UUID | None, day: ColumnElement[Any], sign: int) -> Select[Any]:
    """Build a SELECT with a row for each decision, and with the columns of counter cells.

    The rows are added if `sign` is 1, and subtracted if it is -1.
    """
    return _select_rows(
        schema_id,
        day.label("day"),
        TagSetRevision.kind,
        _IS_TIMED,
        literal(sign).label("n"),
        (literal(sign) * _WAITED_MICROSECONDS).label("total"),
    )


def _build_day_number(
    decided_at: SQLColumnExpression[Any], edges: Sequence[datetime]
) -> ColumnElement[int]:
    """Build an expression for the day number of `decided_at`; day 1 starts at the first edge."""
    return func.width_bucket(decided_at, cast(list(edges), ARRAY(DateTime(timezone=True))))


def _sum_cells(
    cells: FromClause,
    schema_id: ColumnElement[Any],
    author_id: ColumnElement[Any],
    day: ColumnElement[Any],
) -> Select[Any]:
    timed_count = case((cells.c.timed == "true", cells.c.n), else_=0)
    return select(
        schema_id.label("schema_id"),
        author_id.label("author_id"),
        day.label("day"),
        cells.c.kind,
        cast(func.sum(cells.c.n), Integer).label("decisions"),
        cast(func.sum(timed_count), Integer).label("timed_decisions"),
        cast(func.sum(cells.c.total), BigInteger).label("waiting_microseconds"),
    ).having(func.sum(cells.c.n) > 0)
