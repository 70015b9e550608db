"""SQL expressions for counts, for use in the statements of features.

One statement reads cells and unfolded deltas, so that a count is exact for its snapshot.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from sqlalchemy import (
    BigInteger,
    ColumnElement,
    Select,
    String,
    Subquery,
    func,
    literal,
    select,
    union_all,
)

from app.kit import tenancy
from app.kit.counters import spans
from app.kit.counters.sources import Source
from app.kit.counters.sql import ORGANIZATION_LIST, PreparedSpan, Span, Statement, Where
from app.kit.periods import Column, within


@dataclass(frozen=True)
class Between:
    """A period by which a list is filtered.

    Attributes:
        bucket: the facet that is computed from `column`.
        column: the column with the time.
        after: start of the period.
        before: end of the period.
        rows: selects the rows of the list regardless of the period, with the facets to show under
            their names and the measure as `measure`. It counts the rows at the edges of the period,
            outside of whole buckets, for which it needs an index.
    """

    bucket: str
    column: Column
    after: datetime | None
    before: datetime | None
    rows: Select[Any]

    def period(self, after: datetime | None, before: datetime | None) -> list[ColumnElement[bool]]:
        """Return the conditions of a period."""
        return within(self.column, after, before)

    def edges(self, unit: int) -> tuple[Span | None, list[tuple[int, list[ColumnElement[bool]]]]]:
        """Return the span of whole buckets in the period, and the conditions of rows at its edges.

        Each condition has a sign: 1 if its rows are added, or -1 if they are in the buckets but not
        in the period.
        """
        period = self.period(self.after, self.before)
        try:
            first = None if self.after is None else spans.round_up(self.after, unit)
            end = None if self.before is None else spans.round_down(self.before, unit)
        except OverflowError:  # outside of the calendar
            return None, [(1, period)]
        if first is not None and end is not None and first >= end:
            return None, [(1, period)]
        edges: list[tuple[int, list[ColumnElement[bool]]]] = []
        if first is not None:
            edges.append((1, [*self.period(self.after, None), self.column <= first]))
        if end is not None and end != self.before:
            edges.append((1, [*within(self.column, None, self.before), self.column > end]))
        elif end is not None:
            # The bucket includes its end, but the period may not.
            last = self.column == end
            edges.append((1, [*within(self.column, None, self.before), last]))
            edges.append((-1, [last]))
        return Span(self.bucket, first, end), edges


def select_cells(
    source: Source,
    shown_facets: Sequence[str],
    where: Where,
    *,
    span: Span | None = None,
    organization_id: UUID | None = None,
) -> Subquery:
    """Return the cells of a source that match `where`, with `shown_facets`, n and total.

    A combination of facets may occur in several rows, which must be added. Raises LookupError if no
    cube has all these facets.
    """
    return _select_cells(
        source, shown_facets, where, organization_id or tenancy.current_organization_id(), span
    )


def select_prepared_cells(
    source: Source,
    shown_facets: Sequence[str],
    where: Where | None = None,
    span: PreparedSpan | None = None,
) -> Subquery:
    """Return the cells of a source for a prepared statement; by default, all cells.

    The statement takes the organization as parameter `organization_id`, and the parameters of
    `where` and of the span (`name_bounds`).
    """
    return _select_cells(source, shown_facets, where or {}, None, span)


def _select_cells(
    source: Source,
    shown_facets: Sequence[str],
    where: Where,
    organization_id: UUID | None,
    span: Span | PreparedSpan | None,
) -> Subquery:
    statement = Statement(organization_id)
    sql = statement.select_cells(source, shown_facets, where, span)
    columns = {**dict.fromkeys(shown_facets, String()), "n": BigInteger(), "total": BigInteger()}
    return statement.as_select(sql, columns).subquery()


def select_cells_between(
    source: Source, shown_facets: Sequence[str], where: Where, between: Between
) -> Subquery:
    """Return the cells of a period. Rows at its edges, outside of whole buckets, are added."""
    levels = source.find_levels(between.bucket, {*shown_facets, *where}, where)
    unit = levels[-1].length if levels else None
    span, edges = between.edges(unit or spans.HOUR)
    if unit is None:
        span, edges = None, [(1, between.period(between.after, between.before))]
    parts: list[Select[Any]] = []
    for sign, conditions in edges:
        rows = between.rows.where(*conditions).subquery()
        columns = (rows.c[name].label(name) for name in shown_facets)
        measure = literal(sign) * (rows.c.measure if "measure" in rows.c else 0)
        parts.append(select(*columns, literal(sign).label("n"), measure.label("total")))
    if span is not None:
        whole_cells = select_cells(source, shown_facets, where, span=span)
        parts.append(select(*whole_cells.c))
    return union_all(*parts).subquery()


def build_total(
    source: Source,
    where: Where,
    *,
    between: Between | None = None,
    organization_id: UUID | Sequence[UUID] | None = None,
) -> ColumnElement[int]:
    """Return the number of rows of a source that match `where`. Raises LookupError.

    Counts the rows of the current organization, or of the given organization or organizations.
    """
    counted_organization = organization_id
    if counted_organization is None:
        counted_organization = tenancy.current_organization_id()
    if between is None:
        return _select_sum(source, where, counted_organization, None)
    levels = source.find_levels(between.bucket, where, where)
    if not levels:
        return count(between.rows.where(*between.period(between.after, between.before)))
    span, edges = between.edges(levels[-1].length or 0)
    result: ColumnElement[int] = literal(0, BigInteger)
    for sign, conditions in edges:
        rows = count(between.rows.where(*conditions))
        result = result + rows if sign > 0 else result - rows
    if span is not None:
        result += _select_sum(source, where, counted_organization, span)
    return result


def build_prepared_total(
    source: Source, where: Where, *, several: bool = False
) -> ColumnElement[int]:
    """Return the same as `build_total` for a prepared statement.

    The statement takes the organization as parameter `organization_id`, or with `several` a list of
    organizations as parameter `organization_ids`.
    """
    return _select_sum(source, where, ORGANIZATION_LIST if several else None, None)


def count(rows: Select[Any]) -> ColumnElement[int]:
    """Return the number of rows of a statement, which PostgreSQL counts one by one."""
    return select(func.count()).select_from(rows.subquery()).scalar_subquery()


def _select_sum(
    source: Source,
    where: Where,
    organization_id: UUID | Sequence[UUID] | str | None,
    span: Span | None,
) -> ColumnElement[int]:
    statement = Statement(organization_id)
    cells_sql = statement.select_cells(source, (), where, span)
    sql = f"SELECT CAST(coalesce(sum(n), 0) AS bigint) AS n FROM ({cells_sql}) AS cells"  # noqa: S608
    return statement.as_select(sql, {"n": BigInteger()}).scalar_subquery()
