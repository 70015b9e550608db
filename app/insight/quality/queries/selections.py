"""Filters for daily aggregates (cells), and prepared statements that read cells or period sums.

Metrics are read often and must be fast. Without prepared statements (`app.kit.prepared`),
SQLAlchemy would take longer to build a statement than PostgreSQL takes to run it.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from enum import StrEnum
from typing import Any
from uuid import UUID

import orjson
from sqlalchemy import (
    BigInteger,
    ColumnElement,
    Date,
    Select,
    String,
    Subquery,
    Text,
    Uuid,
    any_,
    bindparam,
    cast,
    column,
    func,
    literal,
    literal_column,
    null,
    select,
    true,
)
from sqlalchemy.dialects.postgresql import ARRAY, JSONB

from app.identity.teams.models import TeamMember
from app.insight.quality.models import COUNTERS, CellSubject, QualityCell, QualitySum, SumUnit
from app.insight.quality.queries import sums
from app.kit import tenancy
from app.kit.prepared import Prepared


@dataclass(frozen=True, slots=True)
class CellFilter:
    """A filter for cells: a type of subject, a period, and conditions, which apply unless None.

    `end` is exclusive. `user_ids` limits the result to these labelers or reviewers. A grouping by
    team is limited to `group_team_ids`. `field_types` maps the name of a field to the only type
    that is read for it; fields that are not in `field_types` are read with any type.
    """

    subject: CellSubject
    first: date
    end: date
    schema_id: UUID | None = None
    field: str | None = None
    team_id: UUID | None = None
    user_ids: Sequence[UUID] | None = None
    group_team_ids: Sequence[UUID] | None = None
    field_types: Mapping[str, str] | None = None

    def has_sums(self) -> bool:
        """Return whether period sums can replace the cells that match the filter.

        Fields have no period sums. The sums of labelers and reviewers include all schemas.
        """
        has_sums_of_people = self.subject is not CellSubject.FIELD and self.schema_id is None
        return self.subject is CellSubject.SCHEMA or has_sums_of_people


ORGANIZATION: ColumnElement[UUID] = bindparam("organization_id", type_=Uuid())
_CONDITION_TYPES = {
    "schema_id": "uuid",
    "field": "text",
    "field_types": "jsonb",
    "user_ids": "text[]",
    "team_id": "uuid",
}
"""The SQL parameter type of each condition, by the name of its field in `CellFilter`."""
_CONDITION_KEYS = dict(zip(_CONDITION_TYPES, ("sc", "fi", "ty", "us", "te"), strict=True))
"""The part of a prepared statement's name for each condition. The name must be short and unique."""


def _build_conditions(model: type[QualityCell | QualitySum]) -> dict[str, ColumnElement[bool]]:
    """Return the SQL conditions for rows of `model`, by the name of the field in `CellFilter`."""
    schema_id = bindparam("schema_id", type_=Uuid())
    members = select(cast(TeamMember.user_id, Text)).where(
        TeamMember.organization_id == ORGANIZATION,
        TeamMember.team_id == bindparam("team_id", type_=Uuid()),
    )
    conditions = {
        "schema_id": model.name == cast(schema_id, Text),
        "user_ids": model.name == any_(bindparam("user_ids", type_=ARRAY(Text()))),
        "team_id": model.name.in_(members),
    }
    if model is QualityCell:
        only_type = bindparam("field_types", type_=JSONB()).op("->>", return_type=Text())(
            QualityCell.name
        )
        conditions["schema_id"] = QualityCell.schema_id == schema_id
        conditions["field"] = QualityCell.name == bindparam("field", type_=String())
        conditions["field_types"] = (
            func.coalesce(only_type, QualityCell.field_type) == QualityCell.field_type
        )
    return conditions


def _select_cells(conditions: Sequence[str]) -> Select[Any]:
    cell = QualityCell
    counters: list[Any] = [getattr(cell, name) for name in COUNTERS]
    condition_by_name = _build_conditions(cell)
    return select(cell.schema_id, cell.name, cell.field_type, cell.day, *counters).where(
        cell.organization_id == ORGANIZATION,
        cell.subject == bindparam("subject", type_=String()),
        cell.day >= bindparam("first", type_=Date()),
        cell.day < bindparam("end", type_=Date()),
        *(condition_by_name[name] for name in conditions),
    )


def _select_sums_of_range(
    conditions: Sequence[str], unit: object, first: object, end: object, *, is_schema: bool
) -> Select[Any]:
    """Return a SELECT of `QualitySum` rows with `QualityCell` columns; `day` is the first day."""
    counters: list[Any] = [getattr(QualitySum, name) for name in COUNTERS]
    schema_id = cast(QualitySum.name, Uuid) if is_schema else cast(null(), Uuid)
    condition_by_name = _build_conditions(QualitySum)
    return select(
        schema_id.label("schema_id"),
        QualitySum.name,
        literal("", String).label("field_type"),
        QualitySum.start.label("day"),
        *counters,
    ).where(
        QualitySum.organization_id == ORGANIZATION,
        QualitySum.subject == bindparam("subject", type_=String()),
        QualitySum.unit == unit,
        QualitySum.start >= first,
        QualitySum.start < end,
        *(condition_by_name[name] for name in conditions),
    )


_RANGE_TYPES = {"unit": "text", "first": "date", "end": "date"}
_RANGES_TYPES = {"units": "text[]", "firsts": "date[]", "ends": "date[]"}


def _select_sums(conditions: Sequence[str], *, is_schema: bool, has_one_range: bool) -> Select[Any]:
    """Return a SELECT of `QualitySum` rows in one or several ranges, with `QualityCell` columns."""
    if has_one_range:
        # With single values, PostgreSQL takes about a third less time than with one-element arrays.
        unit, first = bindparam("unit", type_=Text()), bindparam("first", type_=Date())
        end = bindparam("end", type_=Date())
        return _select_sums_of_range(conditions, unit, first, end, is_schema=is_schema)
    ranges = (
        func.unnest(
            bindparam("units", type_=ARRAY(Text())),
            bindparam("firsts", type_=ARRAY(Date())),
            bindparam("ends", type_=ARRAY(Date())),
        )
        .table_valued(column("unit", Text), column("first", Date), column("end", Date))
        .render_derived(name="ranges")
    )
    # The offset keeps this a subquery. Otherwise PostgreSQL may join all sums of the subject.
    rows = (
        _select_sums_of_range(conditions, *ranges.c, is_schema=is_schema)
        .correlate(ranges)
        .offset(literal_column("0"))
        .lateral("rows")
    )
    return select(*rows.c).select_from(ranges.join(rows, true()))


class RowSource(StrEnum):
    """The source of a statement's rows: cells, or precomputed sums of cells by schema or person."""

    CELLS = "cells"
    SCHEMAS = "schemas"
    PEOPLE = "people"


_NEXT_SHORTER_UNIT = {SumUnit.MONTH: SumUnit.WEEK, SumUnit.WEEK: SumUnit.DAY}


class CellQuery:
    """A query on cells or period sums, prepared for each combination of source and conditions.

    `build` receives the matching rows and their source, and returns the statement. `types` maps its
    additional parameters to their SQL types. `by_schema`: whether the statement groups by schema.
    """

    def __init__(
        self,
        name: str,
        build: Callable[[Subquery, RowSource], Select[Any]],
        *,
        by_schema: bool = False,
        **types: str,
    ) -> None:
        self._name, self._build, self._types = name, build, types
        self._by_schema = by_schema
        self._prepared: dict[str, Prepared] = {}

    def read(
        self, cell_filter: CellFilter, *values: object, unit: SumUnit = SumUnit.MONTH
    ) -> list[Any]:
        """Read the rows that match a filter.

        `values` are the values of the additional parameters, in the order of `types`. Reads
        period sums instead of cells if possible. `unit` is the longest unit of these sums.
        """
        values_by_name = {name: getattr(cell_filter, name) for name in _CONDITION_TYPES}
        conditions = {name: value for name, value in values_by_name.items() if value is not None}
        is_schema = cell_filter.subject is CellSubject.SCHEMA
        period: list[object] = [cell_filter.first, cell_filter.end]
        source, has_one_range = RowSource.CELLS, False
        if cell_filter.has_sums() and (is_schema or not self._by_schema) and sums.are_complete():
            source = RowSource.SCHEMAS if is_schema else RowSource.PEOPLE
            ranges = split_period(cell_filter.first, cell_filter.end, unit)
            has_one_range = len(ranges) == 1
            if has_one_range:
                period = [*ranges[0]]
            else:
                period = [[sum_range[index] for sum_range in ranges] for index in range(3)]
        return self._prepare(source, *conditions, has_one_range=has_one_range).all(
            str(tenancy.current_organization_id()),
            cell_filter.subject.value,
            *period,
            *map(_to_parameter, conditions.values()),
            *values,
        )

    def _prepare(self, source: RowSource, *names: str, has_one_range: bool) -> Prepared:
        condition_key = "".join(_CONDITION_KEYS[name] for name in names)
        statement_key = source[0] + "1" * has_one_range + condition_key
        if prepared := self._prepared.get(statement_key):
            return prepared
        if source is RowSource.CELLS:
            period = {"first": "date", "end": "date"}
            cells = _select_cells(names)
        else:
            period = _RANGE_TYPES if has_one_range else _RANGES_TYPES
            is_schema = source is RowSource.SCHEMAS
            cells = _select_sums(names, is_schema=is_schema, has_one_range=has_one_range)
        common_types = {"organization_id": "uuid", "subject": "text", **period}
        condition_types = {name: _CONDITION_TYPES[name] for name in names}
        types = {**common_types, **condition_types, **self._types}
        statement = self._build(cells.subquery("cells"), source)
        prepared = Prepared.from_select(f"quality_{self._name}_{statement_key}", statement, **types)
        self._prepared[statement_key] = prepared
        return prepared


def split_period(first: date, end: date, unit: SumUnit) -> list[tuple[str, date, date]]:
    """Split a period into ranges (unit, first day, end), each covered by sums of its unit.

    `unit` is the longest unit to use. The days before the first whole `unit` and after the last one
    are split into shorter units. Every end is exclusive.
    """
    shorter_unit = _NEXT_SHORTER_UNIT.get(unit)
    if shorter_unit is None:
        return [(unit.value, first, end)] if first < end else []
    inner_first, inner_end = round_up(first, unit), _round_down(end, unit)
    if inner_first > inner_end:
        return split_period(first, end, shorter_unit)
    middle = [(unit.value, inner_first, inner_end)] if inner_first < inner_end else []
    return [
        *split_period(first, inner_first, shorter_unit),
        *middle,
        *split_period(inner_end, end, shorter_unit),
    ]


def _round_down(day: date, unit: SumUnit) -> date:
    if unit is SumUnit.DAY:
        return day
    return day.replace(day=1) if unit is SumUnit.MONTH else day - timedelta(days=day.weekday())


def round_up(day: date, unit: SumUnit) -> date:
    """Return the first day that is not before `day` and on which a unit begins."""
    unit_start = _round_down(day, unit)
    if unit_start == day:
        return day
    return _round_down(unit_start + timedelta(days=32 if unit is SumUnit.MONTH else 7), unit)


def _to_parameter(value: object) -> object:
    """Convert a filter value to a parameter of a prepared statement."""
    if isinstance(value, Mapping):
        return orjson.dumps(value).decode()
    if isinstance(value, Sequence) and not isinstance(value, str):
        return list(map(str, value))
    return str(value)


def build_sum(column: object) -> ColumnElement[int]:
    """Build the SQL expression for the exact sum of a counter."""
    return cast(func.sum(column), BigInteger)
