"""Builders for the SQL that reads cells and deltas.

The SQL is text, because building it from SQLAlchemy expressions takes longer than running it.
"""

import re
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, NamedTuple
from uuid import UUID

from sqlalchemy import BindParameter, TextClause, TextualSelect, bindparam, text

from app.kit.counters import spans
from app.kit.counters.sources import Cube, Source, to_facet

_ORGANIZATION_ID_PARAMETER = "organization_id"
_ORGANIZATION_IDS_PARAMETER = "organization_ids"
ORGANIZATION_LIST = "organization_list"
"""The value to pass to `StatementBuilder` instead of organization ids, to build SQL for a prepared
statement whose parameter `organization_ids` is a list."""
_PARAMETER = re.compile(r"(?<![:\w]):([a-z]\w*)")


class Query(str):
    """The SQL of a SELECT that returns the accepted values of a facet."""

    __slots__ = ()


class UpperBound(str):
    """An exclusive upper bound for the value of a facet. Values are compared as text."""

    __slots__ = ()


class Parameter(str):
    """The name of a parameter in a prepared statement, for example for an array of strings."""

    __slots__ = ()


FacetFilters = Mapping[str, Any]
"""A mapping from facets to their accepted values: one value, a list of values, a `Query`, a
`Parameter` or an `UpperBound`."""
_Filters = Mapping[str, Sequence[str] | Query | UpperBound | Parameter]

HORIZON = (
    "(SELECT coalesce(max(xact), 0) FROM count_horizon"
    " WHERE xact <= CAST(CAST(pg_snapshot_xmin(pg_current_snapshot()) AS text) AS bigint))"
)
"""The SQL expression for the id of the transaction before which all deltas are added to the cells.
An id that is greater than all ids of this server is from another server's dump, and is ignored."""


class BucketSpan(NamedTuple):
    """The time range of a query, from `first` up to but excluding `end`. None means no bound.

    `bucket` is the facet that contains the timestamp. Both bounds must be start times of the
    smallest buckets that the source has. `level` (`MONTH`, `DAY` or `HOUR`) limits the query to
    buckets of that length. It must be set if `bucket` is one of the shown facets.
    """

    bucket: str
    first: datetime | None
    end: datetime | None
    level: int | None = None


class PreparedSpan(NamedTuple):
    """A `BucketSpan` whose bounds are parameters of a prepared statement (`list_bound_values`)."""

    bucket: str


_MAX_RANGES = 2
"""The maximum number of ranges per level: one before and one after the coarser ranges."""


def list_bound_names(levels: Sequence[int]) -> list[str]:
    """Return the names of a prepared span's parameters. The type of each parameter is text."""
    parts = [(level, number) for level in levels for number in range(_MAX_RANGES)]
    parts.append((spans.HOUR, _MAX_RANGES))
    return [f"{side}_{level}_{number}" for level, number in parts for side in ("first", "end")]


def list_bound_values(levels: Sequence[int], first: datetime, end: datetime) -> list[str]:
    """Return the values of a prepared span's parameters, in the order of `list_bound_names`."""
    bounds = dict.fromkeys(list_bound_names(levels), "")
    ranges = spans.split(levels, first, end)
    for level in levels:
        for number, bucket_range in enumerate(
            bucket_range for bucket_range in ranges if bucket_range.level == level
        ):
            bounds[f"first_{level}_{number}"] = bucket_range.first or ""
            bounds[f"end_{level}_{number}"] = bucket_range.end or ""
    bounds[f"first_{spans.HOUR}_{_MAX_RANGES}"] = spans.format_bucket(first, spans.HOUR)
    bounds[f"end_{spans.HOUR}_{_MAX_RANGES}"] = spans.format_bucket(end, spans.HOUR)
    return list(bounds.values())


class StatementBuilder:
    """Builds SQL and its parameters, for one or several organizations.

    If `organizations` is None, the SQL is for a prepared statement with the parameter
    `organization_id`. With ORGANIZATION_LIST instead of None, the parameter is `organization_ids`.
    """

    def __init__(self, organizations: UUID | Sequence[UUID] | str | None) -> None:
        self._values: dict[str, object] = {}
        self._parameters = {_ORGANIZATION_ID_PARAMETER, _ORGANIZATION_IDS_PARAMETER}
        if organizations is None:
            self.organization = f"CAST(:{_ORGANIZATION_ID_PARAMETER} AS uuid)"
        elif organizations == ORGANIZATION_LIST:
            self.organization = f"ANY (CAST(:{_ORGANIZATION_IDS_PARAMETER} AS uuid[]))"
        elif isinstance(organizations, UUID):
            self.organization = f"CAST({self.add(str(organizations))} AS uuid)"
        else:
            ids = self.add([str(id_) for id_ in organizations])
            self.organization = f"ANY (CAST({ids} AS uuid[]))"

    def as_select(
        self, sql: str, columns: Mapping[str, Any], values: Mapping[str, Any] | None = None
    ) -> TextualSelect:
        """Return the SQL with its parameters as a SELECT. `values` are extra parameters."""
        return self.as_text(sql, values).columns(**columns)

    def as_text(self, sql: str, values: Mapping[str, Any] | None = None) -> TextClause:
        """Return the SQL with its parameters as a statement. `values` are extra parameters."""
        # The names are made unique, because one statement may combine the SQL of several builders.
        all_values = {**self._values, **(values or {})}
        used_names = sorted(set(_PARAMETER.findall(sql)))
        bind_parameters: list[BindParameter[Any]] = [
            bindparam(name, all_values[name], unique=True)
            if name not in self._parameters
            else bindparam(name)
            for name in used_names
        ]
        return text(sql).bindparams(*bind_parameters)

    def select_cells(
        self,
        source: Source,
        shown_facets: Sequence[str],
        facet_filters: FacetFilters,
        span: BucketSpan | PreparedSpan | None,
    ) -> str:
        """Return a SELECT with the columns `shown_facets`, `n` and `total`.

        Raises LookupError if no cube has all requested facets.
        """
        filters = {facet: _to_facets(value) for facet, value in facet_filters.items()}
        needed_facets = {*shown_facets, *filters}
        parts = []
        if span is None:
            cube = source.find_cube(needed_facets, filters)
            if cube is None:
                raise LookupError(
                    f"no cube of {source.name} has the facets {sorted(needed_facets)}"
                )
            parts.append(self._select_cube(cube, shown_facets, filters, ()))
        else:
            level = span.level if isinstance(span, BucketSpan) else None
            bucket_cubes = source.find_bucket_cubes(span.bucket, needed_facets, filters, level)
            if not bucket_cubes:
                facets = sorted({*needed_facets, span.bucket})
                raise LookupError(f"no cube of {source.name} has the facets {facets}")
            ranges = _split_span([cube.length or 0 for cube in bucket_cubes], span)
            for cube in bucket_cubes:
                cube_ranges = [part for part in ranges if part.level == cube.length]
                if isinstance(span, PreparedSpan):
                    # PostgreSQL cannot use an index for an OR of ranges with unknown bounds.
                    selects = [
                        self._select_cube(cube, shown_facets, filters, [r]) for r in cube_ranges
                    ]
                    parts.extend(selects)
                elif cube_ranges:
                    parts.append(self._select_cube(cube, shown_facets, filters, cube_ranges))
        parts.append(self._select_deltas(source, shown_facets, filters, span))
        return " UNION ALL ".join(parts)

    def _select_cube(
        self,
        cube: Cube,
        shown_facets: Sequence[str],
        filters: _Filters,
        ranges: Sequence[spans.BucketRange],
    ) -> str:
        columns = {
            name: f"facets[{position}]" for position, name in enumerate(cube.facets, start=1)
        }
        conditions = [f"organization_id = {self.organization}", f"cube = '{cube.name}'"]
        if cube.key is None:
            conditions.append("key = ''")
        else:
            columns[cube.key] = "key"
        if cube.bucket is None:
            conditions.append("bucket = ''")
        else:
            columns.setdefault(cube.bucket, "bucket")
            conditions.append(f"({' OR '.join(map(self._build_range_condition, ranges))})")
        return self._select("counts", columns, shown_facets, filters, conditions)

    def _select_deltas(
        self,
        source: Source,
        shown_facets: Sequence[str],
        filters: _Filters,
        span: BucketSpan | PreparedSpan | None,
    ) -> str:
        columns = {
            name: f"facets[{position}]" for position, name in enumerate(source.facets, start=1)
        }
        conditions = [
            f"organization_id = {self.organization}",
            f"source = '{source.name}'",
            f"xact >= {HORIZON}",
        ]
        if span is not None:
            bucket = columns[span.bucket]
            level = span.level if isinstance(span, BucketSpan) else None
            columns[span.bucket] = f"left({bucket}, {level or spans.HOUR})"
            conditions.append(f"{bucket} <> ''")
            for operator, bound in zip((">=", "<"), _get_hour_bounds(span), strict=True):
                if bound is not None:
                    conditions.append(f"{bucket} {operator} {self._bind(bound)}")
        return self._select("count_deltas", columns, shown_facets, filters, conditions)

    def _select(
        self,
        table: str,
        columns: Mapping[str, str],
        shown_facets: Sequence[str],
        filters: _Filters,
        conditions: list[str],
    ) -> str:
        for name, values in filters.items():
            if isinstance(values, Query):
                conditions.append(f"{columns[name]} = ANY (ARRAY({values}))")
            elif isinstance(values, Parameter):
                self._parameters.add(values)
                conditions.append(f"{columns[name]} = ANY (CAST(:{values} AS text[]))")
            elif isinstance(values, UpperBound):
                conditions.append(f"{columns[name]} < {self.add(str(values))}")
            elif len(values) == 1:
                conditions.append(f"{columns[name]} = {self.add(values[0])}")
            else:
                conditions.append(f"{columns[name]} = ANY (CAST({self.add(values)} AS text[]))")
        # The indexes of the tables support only comparisons in the collation of the columns.
        facets = "".join(f'{columns[name]} COLLATE "default" AS {name}, ' for name in shown_facets)
        return f"SELECT {facets}n, total FROM {table} WHERE {' AND '.join(conditions)}"  # noqa: S608 - consists of constants

    def _build_range_condition(self, buckets: spans.BucketRange) -> str:
        conditions = ["bucket > ''"]
        for operator, bound in ((">=", buckets.first), ("<", buckets.end)):
            if bound is not None:
                conditions.append(f"bucket {operator} {self._bind(bound)}")
        return f"({' AND '.join(conditions)})"

    def _bind(self, value: str) -> str:
        """Add a value or a prepared statement's parameter, and return its placeholder."""
        if not isinstance(value, Parameter):
            return self.add(value)
        self._parameters.add(value)
        return f"CAST(:{value} AS text)"

    def add(self, value: object) -> str:
        """Add a parameter with this value, and return its placeholder."""
        name = f"c{len(self._values)}"
        self._values[name] = value
        return f":{name}"


def _split_span(levels: Sequence[int], span: BucketSpan | PreparedSpan) -> list[spans.BucketRange]:
    if isinstance(span, BucketSpan):
        return spans.split(levels, span.first, span.end)
    return [
        spans.BucketRange(
            level, Parameter(f"first_{level}_{number}"), Parameter(f"end_{level}_{number}")
        )
        for level in levels
        for number in range(_MAX_RANGES)
    ]


def _get_hour_bounds(span: BucketSpan | PreparedSpan) -> Sequence[str | None]:
    """Return the bounds of a span as names of hour buckets or as parameters; None for no bound."""
    if isinstance(span, PreparedSpan):
        return [Parameter(f"{side}_{spans.HOUR}_{_MAX_RANGES}") for side in ("first", "end")]
    return [
        None if at is None else spans.format_bucket(at, spans.HOUR) for at in (span.first, span.end)
    ]


def _to_facets(value: object) -> Sequence[str] | Query | UpperBound | Parameter:
    if isinstance(value, Query | UpperBound | Parameter):
        return value
    return [to_facet(item) for item in (value if isinstance(value, list | tuple) else [value])]
