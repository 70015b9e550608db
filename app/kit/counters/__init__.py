"""Exact counts whose cost does not grow with the number of rows.

Totals and statistics are sums of a few cells. A cell is the number of rows with one combination of
facets. For each statement, triggers append its changes to a table of deltas, so that writers
never wait for each other. A job folds the deltas into the cells (`upkeep`). The functions below
build SQL expressions for the statements of features. An expression adds the cells and the remaining
deltas in one statement, so that a count is exact for its snapshot. To count another list, see
docs/contributors/counters.md.
"""

from collections.abc import Mapping, Sequence
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
from app.kit.counters.sources import Cube, Source, build_cubes
from app.kit.counters.sql import (
    ORGANIZATION_LIST,
    BucketSpan,
    FacetFilters,
    PreparedSpan,
    StatementBuilder,
)
from app.kit.periods import (
    Column,
    build_filter_conditions,
    build_period_conditions,
    get_created_bounds,
    remove_period,
)

__all__ = ["BucketSpan", "Cube", "Source", "build_cubes"]


@dataclass(frozen=True)
class Between:
    """A filter that restricts a list to a period.

    Attributes:
        bucket: the facet that contains the UTC hour of `column`.
        column: the column that contains the time.
        after: start of the period (inclusive), or None for no bound.
        before: end of the period (exclusive), or None for no bound.
        rows: statement that selects the rows of the list regardless of the period. Its columns are
            the facets to show and, if the source has one, the measure as `measure`. It is used to
            count the rows in incomplete buckets at the edges of the period. An index must support
            this count.
    """

    bucket: str
    column: Column
    after: datetime | None
    before: datetime | None
    rows: Select[Any]

    def build_conditions(
        self, after: datetime | None, before: datetime | None
    ) -> list[ColumnElement[bool]]:
        """Return the conditions for rows with `after <= column < before`."""
        return build_period_conditions(self.column, after, before)

    def split(
        self, level: int
    ) -> tuple[BucketSpan | None, list[tuple[int, list[ColumnElement[bool]]]]]:
        """Split the period into a span of whole buckets and conditions for rows at its edges.

        `level` is the level of the finest buckets. Returns the span, or None if the period contains
        no whole bucket, and pairs of a sign and conditions. The sign is 1 if the rows are added to
        the count. It is -1 if they are subtracted, because the buckets contain them but the period
        does not.
        """
        whole_period = self.build_conditions(self.after, self.before)
        try:
            first = None if self.after is None else spans.round_up(self.after, level)
            end = None if self.before is None else spans.round_down(self.before, level)
        except OverflowError:  # a bucket at the edge is outside the calendar
            return None, [(1, whole_period)]
        if first is not None and end is not None and first >= end:
            return None, [(1, whole_period)]
        edges: list[tuple[int, list[ColumnElement[bool]]]] = []
        if first is not None:
            edges.append((1, [*self.build_conditions(self.after, None), self.column <= first]))
        if end is not None and end != self.before:
            edges.append(
                (1, [*build_period_conditions(self.column, None, self.before), self.column > end])
            )
        elif end is not None:
            # The bucket includes its end, but the period may not.
            is_at_end = self.column == end
            edges.append((1, [*build_period_conditions(self.column, None, self.before), is_at_end]))
            edges.append((-1, [is_at_end]))
        return BucketSpan(self.bucket, first, end), edges


def select_cells(
    source: Source,
    shown_facets: Sequence[str],
    facet_filters: FacetFilters,
    *,
    span: BucketSpan | None = None,
    organization_id: UUID | None = None,
) -> Subquery:
    """Return a subquery for the cells and deltas that match `facet_filters` and `span`.

    It reads those of the current organization, or of `organization_id`. Its columns are
    `shown_facets`, `n` (the number of rows) and `total` (the sum of the measure). Several rows may
    have the same facets; the caller must add them up. Raises LookupError if no cube has all
    requested facets.
    """
    return _select_cells(
        source,
        shown_facets,
        facet_filters,
        organization_id or tenancy.current_organization_id(),
        span,
    )


def select_combinations(
    source: Source, facets: Sequence[str], facet_filters: FacetFilters
) -> Subquery:
    """Return a subquery for the combinations of facets that matching rows have.

    A row matches if it has the values in `facet_filters`. The columns are `facets`. Raises
    LookupError if no cube has all requested facets.
    """
    cells = select_cells(source, facets, facet_filters)
    columns = [cells.c[name] for name in facets]
    return select(*columns).group_by(*columns).having(func.sum(cells.c.n) > 0).subquery()


def select_prepared_cells(
    source: Source,
    shown_facets: Sequence[str],
    facet_filters: FacetFilters | None = None,
    span: PreparedSpan | None = None,
) -> Subquery:
    """Return the same subquery as `select_cells` for use in a prepared statement.

    The prepared statement has the parameter `organization_id`, and the parameters that
    `facet_filters` and the span (`list_bound_names`) require. Without filters and span, it reads
    all cells.
    """
    return _select_cells(source, shown_facets, facet_filters or {}, None, span)


def _select_cells(
    source: Source,
    shown_facets: Sequence[str],
    facet_filters: FacetFilters,
    organization_id: UUID | None,
    span: BucketSpan | PreparedSpan | None,
) -> Subquery:
    statement = StatementBuilder(organization_id)
    sql = statement.select_cells(source, shown_facets, facet_filters, span)
    columns = {**dict.fromkeys(shown_facets, String()), "n": BigInteger(), "total": BigInteger()}
    return statement.as_select(sql, columns).subquery()


def select_cells_between(
    source: Source, shown_facets: Sequence[str], facet_filters: FacetFilters, between: Between
) -> Subquery:
    """Return a subquery like `select_cells` for the rows in a period.

    It combines the cells of whole buckets with one row for each row at the edges of the period.
    """
    bucket_cubes = source.find_bucket_cubes(
        between.bucket, {*shown_facets, *facet_filters}, facet_filters
    )
    level = bucket_cubes[-1].length if bucket_cubes else None
    span, edges = between.split(level or spans.HOUR)
    if level is None:
        span, edges = None, [(1, between.build_conditions(between.after, between.before))]
    parts: list[Select[Any]] = []
    for sign, conditions in edges:
        rows = between.rows.where(*conditions).subquery()
        columns = (rows.c[name].label(name) for name in shown_facets)
        measure = literal(sign) * (rows.c.measure if "measure" in rows.c else 0)
        parts.append(select(*columns, literal(sign).label("n"), measure.label("total")))
    if span is not None:
        whole_cells = select_cells(source, shown_facets, facet_filters, span=span)
        parts.append(select(*whole_cells.c))
    return union_all(*parts).subquery()


def build_total(
    source: Source,
    facet_filters: FacetFilters,
    *,
    between: Between | None = None,
    organization_ids: Sequence[UUID] | None = None,
) -> ColumnElement[int]:
    """Return an SQL expression for the number of rows of a source that match `facet_filters`.

    It counts only rows in the period `between`, if any, of the current organization or of
    `organization_ids`. Raises LookupError if, without a period, no cube has all requested facets.
    """
    organizations: UUID | Sequence[UUID] | None = organization_ids
    if organizations is None:
        organizations = tenancy.current_organization_id()
    if between is None or (between.after is None and between.before is None):
        return _select_sum(source, facet_filters, organizations, None)
    bucket_cubes = source.find_bucket_cubes(between.bucket, facet_filters, facet_filters)
    if not bucket_cubes:
        return count(between.rows.where(*between.build_conditions(between.after, between.before)))
    span, edges = between.split(bucket_cubes[-1].length or 0)
    result: ColumnElement[int] = literal(0, BigInteger)
    for sign, conditions in edges:
        row_count = count(between.rows.where(*conditions))
        result = result + row_count if sign > 0 else result - row_count
    if span is not None:
        result += _select_sum(source, facet_filters, organizations, span)
    return result


def build_filtered_total(
    source: Source, model: Any, filters: Mapping[str, Any]
) -> ColumnElement[int]:
    """Return an SQL expression for the number of records of `model` that match `filters`.

    `filters` are those of `periods.build_filter_conditions`. Their columns must be facets of the
    source, whose bucket for the creation time must be `created`.
    """
    facets = remove_period(filters)
    rows = select(model.created_at).where(*build_filter_conditions(model, facets))
    between = Between("created", model.created_at, *get_created_bounds(filters), rows)
    return build_total(source, facets, between=between)


def build_prepared_total(
    source: Source, facet_filters: FacetFilters, *, many_organizations: bool = False
) -> ColumnElement[int]:
    """Return the expression of `build_total` without a period, for use in a prepared statement.

    The prepared statement has the parameters that `facet_filters` requires, and `organization_id`
    or, with `many_organizations`, the list `organization_ids`.
    """
    return _select_sum(
        source, facet_filters, ORGANIZATION_LIST if many_organizations else None, None
    )


def count(rows: Select[Any]) -> ColumnElement[int]:
    """Return an SQL expression that counts the rows of a statement one by one."""
    return select(func.count()).select_from(rows.subquery()).scalar_subquery()


def _select_sum(
    source: Source,
    facet_filters: FacetFilters,
    organizations: UUID | Sequence[UUID] | str | None,
    span: BucketSpan | None,
) -> ColumnElement[int]:
    statement = StatementBuilder(organizations)
    cells_sql = statement.select_cells(source, (), facet_filters, span)
    sql = f"SELECT CAST(coalesce(sum(n), 0) AS bigint) AS n FROM ({cells_sql}) AS cells"  # noqa: S608
    return statement.as_select(sql, {"n": BigInteger()}).scalar_subquery()
