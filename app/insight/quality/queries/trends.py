"""SQL that reads the daily aggregates as series of buckets."""

from collections.abc import Sequence
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
    Text,
    and_,
    bindparam,
    cast,
    func,
    literal,
    select,
)
from sqlalchemy.dialects.postgresql import ARRAY

from app.identity.teams.models import TeamMember
from app.insight.quality.models import QualityCell
from app.insight.quality.queries.selections import CellQuery, Filter, select_sum

MAX_SERIES = 20
"""The maximum number of groups in one response: those with the most cases."""
_TEAM = "team"
_KEYS: dict[str | None, ColumnElement[str]] = {
    None: literal("", String),
    "schema": cast(QualityCell.schema_id, Text),
    "field": cast(QualityCell.name, Text),
    "labeler": cast(QualityCell.name, Text),
    _TEAM: cast(TeamMember.team_id, Text),
}
_STARTS = bindparam("starts", type_=ARRAY(Date()))
_ORIGIN, _STEP = bindparam("origin", type_=Date()), bindparam("step", type_=Integer())


class Group(NamedTuple):
    """The sums of one group: the counters by the position of each bucket that has cells."""

    key: str
    sums: dict[int, tuple[int, ...]]


def sum_by_bucket(
    chosen: Filter,
    group_by: str | None,
    buckets: Sequence[tuple[date, date]],
    *,
    step: int | None,
    cases: Sequence[str],
    others: Sequence[str],
) -> list[Group]:
    """Return the sums of each group and bucket, of the groups with the most cases, these first.

    `buckets` have `step` days, but the first and the last may be shorter; None if they have not all
    the same length. `cases` are the counters that add up to the cases, `others` are summed, too.
    Groups without cases are left out. One group more than `MAX_SERIES` is returned if there are
    more.
    """
    query = _get_query(group_by, tuple(cases), tuple(others), is_even=step is not None)
    if step is None:
        rows = query.read(chosen, [first for first, _ in buckets])
    else:
        (first, end), *later = buckets
        rows = query.read(chosen, end - timedelta(days=step) if later else first, step)
    return [
        Group(row[0], dict(zip(row[1], zip(*row[2:], strict=True), strict=True))) for row in rows
    ]


@cache
def _get_query(
    group_by: str | None, cases: tuple[str, ...], others: tuple[str, ...], *, is_even: bool
) -> CellQuery:
    names = (*cases, *others)

    def build(conditions: Sequence[ColumnElement[bool]]) -> Select[Any]:
        key = _KEYS[group_by].label("key")
        sums: list[Any] = [select_sum(getattr(QualityCell, name)).label(name) for name in names]
        statement: Select[Any] = select(key, _build_position(is_even=is_even), *sums)
        if group_by == _TEAM:
            statement = _join_teams(statement)
        summed = statement.where(*conditions).group_by("key", "bucket").subquery()
        weight = func.sum(reduce(add, (summed.c[name] for name in cases)))
        # The arrays of a group are in one order, whatever it is.
        arrays = [func.array_agg(summed.c[name]).label(f"{name}s") for name in ("bucket", *names)]
        return (
            select(summed.c.key, *arrays)
            .group_by(summed.c.key)
            .having(weight > 0)
            .order_by(weight.desc(), summed.c.key)
            .limit(MAX_SERIES + 1)
        )

    types = {"origin": "date", "step": "int"} if is_even else {"starts": "date[]"}
    unit = "steps" if is_even else "starts"
    name = f"{group_by or 'all'}_{unit}_{'_'.join(names)}"
    return CellQuery(name, build, of_teams=group_by == _TEAM, **types)


def _build_position(*, is_even: bool) -> ColumnElement[int]:
    """Return the position of the bucket of a day."""
    if not is_even:
        return (func.width_bucket(QualityCell.day, _STARTS) - 1).label("bucket")
    days = QualityCell.day.op("-", return_type=Integer())(_ORIGIN)
    return days.op("/", return_type=Integer())(_STEP).label("bucket")


def _join_teams(statement: Select[Any]) -> Select[Any]:
    """Join the teams of labelers; a labeler counts in each of their teams."""
    return statement.join(
        TeamMember,
        and_(
            TeamMember.organization_id == QualityCell.organization_id,
            cast(TeamMember.user_id, Text) == QualityCell.name,
        ),
    )
