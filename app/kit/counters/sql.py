"""The SQL of reading cells and deltas.

Written out, as a few dozen of SQLAlchemy's expressions take longer to make than PostgreSQL takes to
run them.
"""

import re
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, NamedTuple
from uuid import UUID

from sqlalchemy import BindParameter, TextClause, TextualSelect, bindparam, text

from app.kit.counters import spans
from app.kit.counters.sources import Cube, Source, as_facet

_ORGANIZATION = "organization_id"
_PARAMETER = re.compile(r"(?<![:\w]):([a-z]\w*)")


class Query(str):
    """SQL of a SELECT of texts, as the values that a facet may have."""

    __slots__ = ()


Where = Mapping[str, Any]
"""Facets and the value that each must have, or a list of values, or a `Query` of them."""
_Filters = Mapping[str, Sequence[str] | Query]

HORIZON = (
    "(SELECT coalesce(max(xact), 0) FROM count_horizon"
    " WHERE xact <= CAST(CAST(pg_snapshot_xmin(pg_current_snapshot()) AS text) AS bigint))"
)
"""All deltas before it are folded. A row that is ahead of every transaction came with a dump."""


class Span(NamedTuple):
    """Buckets of a facet from `first` up to, but not including, `end`; None means no bound.

    Both are beginnings of buckets of the finest cube. With `level` only the buckets of that one are
    read, and may be shown.
    """

    bucket: str
    first: datetime | None
    end: datetime | None
    level: int | None = None


class Statement:
    """SQL in the making, with the values of its parameters.

    Without an organization it is one to be prepared, and has the parameter `organization_id`.
    """

    def __init__(self, organization_id: UUID | None) -> None:
        self._values: dict[str, Any] = {}
        if organization_id is None:
            self.organization = f"CAST(:{_ORGANIZATION} AS uuid)"
        else:
            self.organization = f"CAST({self.add(str(organization_id))} AS uuid)"

    def as_select(
        self, sql: str, columns: Mapping[str, Any], values: Mapping[str, Any] | None = None
    ) -> TextualSelect:
        """Return SQL with its parameters as part of another statement; `values` adds parameters."""
        return self.as_text(sql, values).columns(**columns)

    def as_text(self, sql: str, values: Mapping[str, Any] | None = None) -> TextClause:
        """Return the same as a statement of its own."""
        # Unique: another statement may have several of these.
        every = {**self._values, **(values or {})}
        used = sorted(set(_PARAMETER.findall(sql)))
        binds: list[BindParameter[Any]] = [
            bindparam(name, every[name], unique=True) if name != _ORGANIZATION else bindparam(name)
            for name in used
        ]
        return text(sql).bindparams(*binds)

    def select_cells(
        self, source: Source, shown: Sequence[str], where: Where, span: Span | None
    ) -> str:
        """Return a SELECT of `shown` facets, n and total. Raises LookupError if no cube fits."""
        filters = {facet: _listed(value) for facet, value in where.items()}
        needed = {*shown, *filters}
        parts = []
        if span is None:
            cube = source.find_cube(needed, filters)
            if cube is None:
                raise LookupError(f"{source.name} by {sorted(needed)}")
            parts.append(self._select_cube(cube, shown, filters, ()))
        else:
            levels = source.find_levels(span.bucket, needed, filters, span.level)
            if not levels:
                raise LookupError(f"{source.name} by {sorted(needed)} and {span.bucket}")
            ranges = spans.split([cube.length or 0 for cube in levels], span.first, span.end)
            for cube in levels:
                own = [one for one in ranges if one.level == cube.length]
                if own:
                    parts.append(self._select_cube(cube, shown, filters, own))
        parts.append(self._select_deltas(source, shown, filters, span))
        return " UNION ALL ".join(parts)

    def _select_cube(
        self,
        cube: Cube,
        shown: Sequence[str],
        filters: _Filters,
        ranges: Sequence[spans.Range],
    ) -> str:
        columns = {name: f"facets[{place}]" for place, name in enumerate(cube.facets, start=1)}
        conditions = [f"organization_id = {self.organization}", f"cube = '{cube.name}'"]
        if cube.key is None:
            conditions.append("key = ''")
        else:
            columns[cube.key] = "key"
        if cube.bucket is None:
            conditions.append("bucket = ''")
        else:
            columns.setdefault(cube.bucket, "bucket")
            conditions.append(f"({' OR '.join(map(self._is_in, ranges))})")
        return self._select("counts", columns, shown, filters, conditions)

    def _select_deltas(
        self,
        source: Source,
        shown: Sequence[str],
        filters: _Filters,
        span: Span | None,
    ) -> str:
        columns = {name: f"facets[{place}]" for place, name in enumerate(source.facets, start=1)}
        conditions = [
            f"organization_id = {self.organization}",
            f"source = '{source.name}'",
            f"xact >= {HORIZON}",
        ]
        if span is not None:
            bucket = columns[span.bucket]
            columns[span.bucket] = f"left({bucket}, {span.level or spans.HOUR})"
            conditions.append(f"{bucket} <> ''")
            for sign, at in ((">=", span.first), ("<", span.end)):
                if at is not None:
                    hour = self.add(spans.as_bucket(at, spans.HOUR))
                    conditions.append(f"{bucket} {sign} {hour}")
        return self._select("count_deltas", columns, shown, filters, conditions)

    def _select(
        self,
        table: str,
        columns: Mapping[str, str],
        shown: Sequence[str],
        filters: _Filters,
        conditions: list[str],
    ) -> str:
        for name, values in filters.items():
            if isinstance(values, Query):
                conditions.append(f"{columns[name]} = ANY (ARRAY({values}))")
            elif len(values) == 1:
                conditions.append(f"{columns[name]} = {self.add(values[0])}")
            else:
                conditions.append(f"{columns[name]} = ANY (CAST({self.add(values)} AS text[]))")
        # An index of a table serves comparisons in its own collation alone.
        facets = "".join(f'{columns[name]} COLLATE "default" AS {name}, ' for name in shown)
        return f"SELECT {facets}n, total FROM {table} WHERE {' AND '.join(conditions)}"  # noqa: S608 - made of constants

    def _is_in(self, one: spans.Range) -> str:
        bounds = ["bucket > ''"]
        for sign, at in ((">=", one.first), ("<", one.end)):
            if at is not None:
                bounds.append(f"bucket {sign} {self.add(at)}")
        return f"({' AND '.join(bounds)})"

    def add(self, value: Any) -> str:
        """Return the name of a new parameter of this value."""
        name = f"c{len(self._values)}"
        self._values[name] = value
        return f":{name}"


def _listed(value: Any) -> Sequence[str] | Query:
    if isinstance(value, Query):
        return value
    return [as_facet(one) for one in (value if isinstance(value, list | tuple) else [value])]
