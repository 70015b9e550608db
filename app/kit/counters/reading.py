"""Expressions of counts, for the statements of features.

Cells and the deltas that are not folded yet are read in one statement, so a count is exact as of
its snapshot, whether anything is folded or not.
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
from app.kit.counters.sql import Span, Statement, Where
from app.kit.periods import Column, within


@dataclass(frozen=True)
class Between:
    """The times that a list is asked for. `bucket` is the facet that is made of `column`.

    `rows` selects the list's rows of all times, with the facets that are shown, if any, under their
    names, and the measure as `measure`: an index tells which of them are of the times that are in
    no whole bucket.
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
        """Return the whole buckets, and the conditions of rows that are to be counted beside, each
        with 1 or, where they are in those buckets but not in the period, -1."""
        period = self.period(self.after, self.before)
        try:
            first = None if self.after is None else spans.round_up(self.after, unit)
            end = None if self.before is None else spans.round_down(self.before, unit)
        except OverflowError:  # hours that the calendar has not
            return None, [(1, period)]
        if first is not None and end is not None and first >= end:
            return None, [(1, period)]
        beside: list[tuple[int, list[ColumnElement[bool]]]] = []
        if first is not None:
            beside.append((1, [*self.period(self.after, None), self.column <= first]))
        if end is not None and end != self.before:
            beside.append((1, [*within(self.column, None, self.before), self.column > end]))
        elif end is not None:
            # The end of a bucket is part of it, and need not be of the period.
            last = self.column == end
            beside.append((1, [*within(self.column, None, self.before), last]))
            beside.append((-1, [last]))
        return Span(self.bucket, first, end), beside


def cells(
    source: Source,
    shown: Sequence[str],
    where: Where,
    *,
    span: Span | None = None,
    organization_id: UUID | None = None,
) -> Subquery:
    """Return the cells of a source whose facets are as `where` says: the `shown` facets, n, total.

    A combination of facets may come in several rows, to be added up. Raises LookupError if no cube
    has all these facets.
    """
    return _cells(source, shown, where, organization_id or tenancy.current_organization_id(), span)


def prepared_cells(source: Source, shown: Sequence[str]) -> Subquery:
    """Return the same as `cells` of all rows for a statement to be prepared; the organization is
    its parameter `organization_id`."""
    return _cells(source, shown, {}, None, None)


def _cells(
    source: Source,
    shown: Sequence[str],
    where: Where,
    organization_id: UUID | None,
    span: Span | None,
) -> Subquery:
    statement = Statement(organization_id)
    sql = statement.select_cells(source, shown, where, span)
    columns = {**dict.fromkeys(shown, String()), "n": BigInteger(), "total": BigInteger()}
    return statement.as_select(sql, columns).subquery()


def cells_between(source: Source, shown: Sequence[str], where: Where, between: Between) -> Subquery:
    """Return the cells of a period, as `cells` does; what no bucket tells comes row by row."""
    levels = source.find_levels(between.bucket, {*shown, *where}, where)
    unit = levels[-1].length if levels else None
    span, beside = between.edges(unit or spans.HOUR)
    if unit is None:
        span, beside = None, [(1, between.period(between.after, between.before))]
    parts: list[Any] = []
    for sign, conditions in beside:
        rows = between.rows.where(*conditions).subquery()
        columns = (rows.c[name].label(name) for name in shown)
        measure = literal(sign) * (rows.c.measure if "measure" in rows.c else 0)
        parts.append(select(*columns, literal(sign).label("n"), measure.label("total")))
    if span is not None:
        whole = cells(source, shown, where, span=span)
        parts.append(select(*whole.c))
    return union_all(*parts).subquery()


def total(
    source: Source,
    where: Where,
    *,
    between: Between | None = None,
    organization_id: UUID | None = None,
) -> ColumnElement[int]:
    """Return how many rows of a source are as `where` says. Raises LookupError as `cells` does."""
    whose = organization_id or tenancy.current_organization_id()
    if between is None:
        return _sum(source, where, whose, None)
    levels = source.find_levels(between.bucket, where, where)
    if not levels:
        return count(between.rows.where(*between.period(between.after, between.before)))
    span, beside = between.edges(levels[-1].length or 0)
    found: ColumnElement[int] = literal(0, BigInteger)
    for sign, conditions in beside:
        rows = count(between.rows.where(*conditions))
        found = found + rows if sign > 0 else found - rows
    if span is not None:
        found += _sum(source, where, whose, span)
    return found


def prepared_total(source: Source, where: Where) -> ColumnElement[int]:
    """Return the same as `total` for a statement to be prepared; the organization is its parameter
    `organization_id`."""
    return _sum(source, where, None, None)


def count(rows: Select[Any]) -> ColumnElement[int]:
    """Return how many rows a statement has, counted one by one."""
    return select(func.count()).select_from(rows.subquery()).scalar_subquery()


def _sum(
    source: Source, where: Where, organization_id: UUID | None, span: Span | None
) -> ColumnElement[int]:
    statement = Statement(organization_id)
    cells_sql = statement.select_cells(source, (), where, span)
    sql = f"SELECT CAST(coalesce(sum(n), 0) AS bigint) AS n FROM ({cells_sql}) AS cells"  # noqa: S608
    return statement.as_select(sql, {"n": BigInteger()}).scalar_subquery()
