"""Selections of cells, and prepared statements that read them, or sums of them.

Metrics are read so often, and their statements are so quick, that SQLAlchemy would take longer to
build a statement than PostgreSQL to run it (`app.kit.prepared`).
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
from app.insight.quality.models import COUNTERS, QualityCell, QualitySum, Subject, Unit
from app.insight.quality.queries import sums
from app.kit import tenancy
from app.kit.prepared import Prepared


@dataclass(frozen=True, slots=True)
class Filter:
    """A selection of cells: of one type of subject, in a period, with the values that are set.

    `labelers` limits labelers, or reviewers, to these ids, and `teams` the groups by team. `types`
    limits the fields that it names to their type.
    """

    subject: Subject
    first: date
    end: date
    schema_id: UUID | None = None
    field: str | None = None
    team_id: UUID | None = None
    labelers: Sequence[UUID] | None = None
    teams: Sequence[UUID] | None = None
    types: Mapping[str, str] | None = None

    def is_summed(self) -> bool:
        """Return whether sums exist of these cells, unless they are grouped by schema."""
        if self.subject is Subject.SCHEMA:
            return True
        return self.subject in (Subject.LABELER, Subject.REVIEWER) and self.schema_id is None


ORGANIZATION: ColumnElement[UUID] = bindparam("organization_id", type_=Uuid())
_CONDITIONS = {
    "schema_id": "uuid",
    "field": "text",
    "types": "jsonb",
    "labelers": "text[]",
    "team_id": "uuid",
}
"""The SQL type of the parameter of each condition of a filter, by member."""


def _build_conditions(model: Any) -> dict[str, ColumnElement[bool]]:
    """Return the conditions on cells, or on sums."""
    schema_id = bindparam("schema_id", type_=Uuid())
    members = select(cast(TeamMember.user_id, Text)).where(
        TeamMember.organization_id == ORGANIZATION,
        TeamMember.team_id == bindparam("team_id", type_=Uuid()),
    )
    conditions = {
        "schema_id": model.name == cast(schema_id, Text),
        "labelers": model.name == any_(bindparam("labelers", type_=ARRAY(Text()))),
        "team_id": model.name.in_(members),
    }
    if model is QualityCell:
        kind = bindparam("types", type_=JSONB()).op("->>", return_type=Text())(QualityCell.name)
        conditions["schema_id"] = QualityCell.schema_id == schema_id
        conditions["field"] = QualityCell.name == bindparam("field", type_=String())
        conditions["types"] = func.coalesce(kind, QualityCell.field_type) == QualityCell.field_type
    return conditions


def _select_cells(conditions: Sequence[str]) -> Select[Any]:
    cell = QualityCell
    counters: list[Any] = [getattr(cell, name) for name in COUNTERS]
    built = _build_conditions(cell)
    return select(cell.schema_id, cell.name, cell.field_type, cell.day, *counters).where(
        cell.organization_id == ORGANIZATION,
        cell.subject == bindparam("subject", type_=String()),
        cell.day >= bindparam("first", type_=Date()),
        cell.day < bindparam("until", type_=Date()),
        *(built[name] for name in conditions),
    )


def _select_sums(conditions: Sequence[str], *, of_schemas: bool) -> Select[Any]:
    """Return a select of sums as cells: the day of each is the first of its range."""
    ranges = (
        func.unnest(
            bindparam("units", type_=ARRAY(Text())),
            bindparam("firsts", type_=ARRAY(Date())),
            bindparam("untils", type_=ARRAY(Date())),
        )
        .table_valued(column("unit", Text), column("first", Date), column("until", Date))
        .render_derived(name="ranges")
    )
    counters: list[Any] = [getattr(QualitySum, name) for name in COUNTERS]
    schema_id = cast(QualitySum.name, Uuid) if of_schemas else cast(null(), Uuid)
    built = _build_conditions(QualitySum)
    # The offset keeps this a subquery. Otherwise PostgreSQL may join all sums of the subject.
    rows = (
        select(
            schema_id.label("schema_id"),
            QualitySum.name,
            literal("", String).label("field_type"),
            QualitySum.start.label("day"),
            *counters,
        )
        .where(
            QualitySum.organization_id == ORGANIZATION,
            QualitySum.subject == bindparam("subject", type_=String()),
            QualitySum.unit == ranges.c.unit,
            QualitySum.start >= ranges.c.first,
            QualitySum.start < ranges.c.until,
            *(built[name] for name in conditions),
        )
        .correlate(ranges)
        .offset(literal_column("0"))
        .lateral("rows")
    )
    return select(*rows.c).select_from(ranges.join(rows, true()))


class Source(StrEnum):
    """The rows that a statement reads: cells, or the sums of schemas or of people."""

    CELLS = "cells"
    SCHEMAS = "schemas"
    PEOPLE = "people"


_FINER = {Unit.MONTH: Unit.WEEK, Unit.WEEK: Unit.DAY}


class CellQuery:
    """A statement on cells or sums, prepared once for each combination of a filter's conditions.

    `build` returns the statement, given the rows that match and where they come from. `types` maps
    further parameters to their SQL types. With `by_schema`, the statement groups by schema.
    """

    def __init__(
        self,
        name: str,
        build: Callable[[Subquery, Source], Select[Any]],
        *,
        by_schema: bool = False,
        **types: str,
    ) -> None:
        self._name, self._build, self._types = name, build, types
        self._by_schema = by_schema
        self._prepared: dict[tuple[str, ...], Prepared] = {}

    def read(self, chosen: Filter, *values: object, unit: Unit = Unit.MONTH) -> list[Any]:
        """Return the rows of a filter; `values` are those of `types`, in their order.

        Sums of whole units are read instead of cells, if there are any.
        """
        wanted = {name: getattr(chosen, name) for name in _CONDITIONS}
        wanted = {name: value for name, value in wanted.items() if value is not None}
        of_schemas = chosen.subject is Subject.SCHEMA
        period: list[object] = [chosen.first, chosen.end]
        source = Source.CELLS
        if chosen.is_summed() and (of_schemas or not self._by_schema) and sums.are_complete():
            source = Source.SCHEMAS if of_schemas else Source.PEOPLE
            ranges = split(chosen.first, chosen.end, unit)
            period = [[one[part] for one in ranges] for part in range(3)]
        return self._prepare(source, *wanted).all(
            str(tenancy.current_organization_id()),
            chosen.subject.value,
            *period,
            *map(_adapt, wanted.values()),
            *values,
        )

    def _prepare(self, source: Source, *names: str) -> Prepared:
        prepared = self._prepared.get((source, *names))
        if prepared is None:
            if source is Source.CELLS:
                period = {"first": "date", "until": "date"}
                cells = _select_cells(names)
            else:
                period = {"units": "text[]", "firsts": "date[]", "untils": "date[]"}
                cells = _select_sums(names, of_schemas=source is Source.SCHEMAS)
            usual = {"organization_id": "uuid", "subject": "text", **period}
            types = {**usual, **{name: _CONDITIONS[name] for name in names}, **self._types}
            code = source[0] + "".join(name[:2] for name in names)
            statement = self._build(cells.subquery("cells"), source)
            prepared = Prepared.from_select(f"quality_{self._name}_{code}", statement, **types)
            self._prepared[source, *names] = prepared
        return prepared


def split(first: date, end: date, unit: Unit) -> list[tuple[str, date, date]]:
    """Return the ranges of sums that cover a period, as coarse as `unit` allows.

    No range begins in one `unit` and ends in another, unless it consists of whole ones.
    """
    finer = _FINER.get(unit)
    if finer is None:
        return [(unit.value, first, end)] if first < end else []
    inner_first, inner_end = _round_up(first, unit), _round_down(end, unit)
    if inner_first > inner_end:
        return split(first, end, finer)
    middle = [(unit.value, inner_first, inner_end)] if inner_first < inner_end else []
    return [*split(first, inner_first, finer), *middle, *split(inner_end, end, finer)]


def _round_down(day: date, unit: Unit) -> date:
    return day.replace(day=1) if unit is Unit.MONTH else day - timedelta(days=day.weekday())


def _round_up(day: date, unit: Unit) -> date:
    down = _round_down(day, unit)
    if down == day:
        return day
    return _round_down(down + timedelta(days=32 if unit is Unit.MONTH else 7), unit)


def _adapt(value: object) -> object:
    """Return a value of a filter in the form that a prepared statement takes."""
    if isinstance(value, Mapping):
        return orjson.dumps(value).decode()
    if isinstance(value, Sequence) and not isinstance(value, str):
        return list(map(str, value))
    return str(value)


def select_sum(column: Any) -> ColumnElement[int]:
    """Return the exact sum of a counter."""
    return cast(func.sum(column), BigInteger)


__all__ = ["ORGANIZATION", "CellQuery", "Filter", "Source", "select_sum", "split"]
