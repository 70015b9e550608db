"""SQL queries that add up the daily aggregates (cells) in each bucket of a trend."""

from collections.abc import Iterable, Mapping, Sequence
from datetime import date, timedelta
from functools import cache, reduce
from operator import add
from typing import Any, NamedTuple

from sqlalchemy import (
    ColumnElement,
    Date,
    Integer,
    Select,
    String,
    Subquery,
    Text,
    Uuid,
    and_,
    any_,
    bindparam,
    cast,
    func,
    literal,
    null,
    or_,
    select,
)
from sqlalchemy.dialects.postgresql import ARRAY

from app.identity.teams.models import Team, TeamMember
from app.identity.users.models import User
from app.insight.quality.models import UNIT_DAYS, SumUnit
from app.insight.quality.queries.selections import (
    ORGANIZATION,
    CellFilter,
    CellQuery,
    RowSource,
    build_sum,
)
from app.schemas.artifact_schemas.models import ArtifactSchema

MAX_SERIES = 20
"""The maximum number of groups in one response. The groups with the most cases are returned."""
_TEAM = "team"
_SUMMED_GROUPS = {("schema", RowSource.SCHEMAS), ("labeler", RowSource.PEOPLE)}
"""The pairs of grouping and source that need no GROUP BY: each group has one row per bucket, or a
few rows if the period starts or ends within the bucket."""
_NAME_MODELS: Mapping[str | None, Any] = {"schema": ArtifactSchema, "team": Team, "labeler": User}
"""The models that contain the names of groups."""
_STARTS = bindparam("starts", type_=ARRAY(Date()))
_ORIGIN, _STEP = bindparam("origin", type_=Date()), bindparam("step", type_=Integer())


class TrendGroup(NamedTuple):
    """The counter sums of one group in a trend.

    `key` is the id of the schema, team or labeler, or the name of the field; it is empty without
    grouping. `name` is the name of the schema, team or labeler. It is None if the record was
    deleted, if the groups are fields, or without grouping. `sums` has the counters of each bucket
    that has cells, by the position of the bucket.
    """

    key: str
    name: str | None
    sums: dict[int, tuple[int, ...]]


def sum_by_bucket(
    cell_filter: CellFilter,
    group_by: str | None,
    buckets: Sequence[tuple[date, date]],
    unit: SumUnit,
    *,
    cases: Sequence[str],
    sums: Sequence[str],
    limit: int | None = MAX_SERIES,
) -> list[TrendGroup]:
    """Sum counters by group and bucket, for the groups with the most cases, most cases first.

    Each bucket is (first day, exclusive end), one `unit` long. The period may cut off the first and
    the last bucket. `cases` and `sums` name counters; each result has both, `cases` first. The
    number of cases of a group is the total of its `cases` counters. Groups without cases are left
    out. At most `limit` groups are returned, or all groups if `limit` is None.
    """
    step = UNIT_DAYS.get(unit)
    values: list[Any] = [[first for first, _ in buckets]]
    if step is not None:
        # The period may cut off the start of the first bucket, so it is computed from the end.
        (first, end), *later_buckets = buckets
        values = [end - timedelta(days=step) if later_buckets else first, step]
    if group_by == _TEAM:
        team_ids = cell_filter.group_team_ids
        values.append(None if team_ids is None else list(map(str, team_ids)))
    has_fixed_length = step is not None
    query = _build_query(
        group_by, tuple(cases), tuple(sums), limit, has_fixed_length=has_fixed_length
    )
    return [
        TrendGroup(row[0], row[1], sum_by_position(row[2], zip(*row[3:], strict=True)))
        for row in query.read(cell_filter, *values, unit=unit)
    ]


def sum_by_position(
    positions: Iterable[int], rows: Iterable[tuple[int, ...]]
) -> dict[int, tuple[int, ...]]:
    """Add up the rows that have the same position, and return the sums by position."""
    sums: dict[int, tuple[int, ...]] = {}
    for position, counts in zip(positions, rows, strict=True):
        earlier_sums = sums.get(position)
        sums[position] = counts if earlier_sums is None else tuple(map(add, earlier_sums, counts))
    return sums


@cache
def _build_query(
    group_by: str | None,
    cases: tuple[str, ...],
    other_counters: tuple[str, ...],
    limit: int | None,
    *,
    has_fixed_length: bool,
) -> CellQuery:
    names = (*cases, *other_counters)

    def build(cells: Subquery, source: RowSource) -> Select[Any]:
        key = _build_key(group_by, cells).label("key")
        position = _build_position(cells, has_fixed_length=has_fixed_length).label("bucket")
        counters: list[Any] = [cells.c[name] for name in names]
        rows: Select[Any] = select(key, position, *counters)
        if group_by == _TEAM:
            rows = _join_teams(rows, cells)
        if (group_by, source) not in _SUMMED_GROUPS:
            sum_columns: list[Any] = [build_sum(cells.c[name]).label(name) for name in names]
            rows = rows.with_only_columns(key, position, *sum_columns).group_by("key", "bucket")
        totals = rows.subquery("summed")
        case_count = func.sum(reduce(add, (totals.c[name] for name in cases)))
        # All arrays of a group have the same order, so their elements belong together.
        arrays = [func.array_agg(totals.c[name]).label(f"{name}s") for name in ("bucket", *names)]
        groups = (
            select(totals.c.key, case_count.label("case_count"), *arrays)
            .group_by(totals.c.key)
            .having(case_count > 0)
            .order_by(case_count.desc(), totals.c.key)
            .limit(limit)
            .subquery("groups")
        )
        return _join_names(groups, group_by)

    types = {"origin": "date", "step": "int"} if has_fixed_length else {"starts": "date[]"}
    if group_by == _TEAM:
        types["team_ids"] = "text[]"
    unit = "steps" if has_fixed_length else "starts"
    name = f"{group_by or 'all'}_{unit}_{limit or 0}_{'_'.join(names)}"
    return CellQuery(name, build, by_schema=group_by == "schema", **types)


def _join_names(groups: Subquery, group_by: str | None) -> Select[Any]:
    """Return a SELECT of the key, the name and the arrays of bucket sums of each group."""
    key, case_count, *arrays = groups.c
    statement = select(key, cast(null(), Text).label("name"), *arrays)
    if model := _NAME_MODELS.get(group_by):
        conditions = [] if model is User else [model.organization_id == ORGANIZATION]
        has_group_key = and_(model.id == cast(key, Uuid), *conditions)
        statement = select(key, model.name, *arrays).outerjoin_from(groups, model, has_group_key)
    return statement.order_by(case_count.desc(), key)


def _build_key(group_by: str | None, cells: Subquery) -> ColumnElement[str]:
    if group_by is None:
        return literal("", String)
    if group_by == _TEAM:
        return cast(TeamMember.team_id, Text)
    return cast(cells.c.schema_id if group_by == "schema" else cells.c.name, Text)


def _build_position(cells: Subquery, *, has_fixed_length: bool) -> ColumnElement[int]:
    """Build the SQL expression for the position of the bucket that contains a cell's day."""
    if not has_fixed_length:
        return func.width_bucket(cells.c.day, _STARTS) - 1
    days = cells.c.day.op("-", return_type=Integer())(_ORIGIN)
    return days.op("/", return_type=Integer())(_STEP)


def _join_teams(statement: Select[Any], cells: Subquery) -> Select[Any]:
    """Join the teams of labelers; a labeler is counted in each of their teams."""
    team_ids = bindparam("team_ids", type_=ARRAY(Text()))
    return statement.join(
        TeamMember,
        and_(
            TeamMember.organization_id == ORGANIZATION,
            cast(TeamMember.user_id, Text) == cells.c.name,
            or_(team_ids.is_(None), cast(TeamMember.team_id, Text) == any_(team_ids)),
        ),
    )
