"""Selections of cells, and prepared statements that read them.

Metrics are read so often, and their statements are so quick, that SQLAlchemy would take longer to
build a statement than PostgreSQL to run it (`app.kit.prepared`).
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from typing import Any
from uuid import UUID

import orjson
from sqlalchemy import (
    BigInteger,
    ColumnElement,
    Date,
    Select,
    String,
    Text,
    Uuid,
    any_,
    bindparam,
    cast,
    func,
    select,
)
from sqlalchemy.dialects.postgresql import ARRAY, JSONB

from app.identity.teams.models import TeamMember
from app.insight.quality.models import QualityCell, Subject
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


ORGANIZATION: ColumnElement[UUID] = bindparam("organization_id", type_=Uuid())
_USUAL = {"organization_id": "uuid", "subject": "text", "first": "date", "end": "date"}
_USUAL_CONDITIONS = (
    QualityCell.organization_id == ORGANIZATION,
    QualityCell.subject == bindparam("subject", type_=String()),
    QualityCell.day >= bindparam("first", type_=Date()),
    QualityCell.day < bindparam("end", type_=Date()),
)
_TYPE = bindparam("types", type_=JSONB()).op("->>", return_type=Text())(QualityCell.name)
_CONDITIONS: Mapping[str, tuple[str, ColumnElement[bool]]] = {
    "schema_id": ("uuid", QualityCell.schema_id == bindparam("schema_id", type_=Uuid())),
    "field": ("text", QualityCell.name == bindparam("field", type_=String())),
    "types": (
        "jsonb",
        func.coalesce(_TYPE, QualityCell.field_type) == QualityCell.field_type,
    ),
    "labelers": (
        "text[]",
        QualityCell.name == any_(bindparam("labelers", type_=ARRAY(Text()))),
    ),
    "team_id": (
        "uuid",
        QualityCell.name.in_(
            select(cast(TeamMember.user_id, Text)).where(
                TeamMember.organization_id == ORGANIZATION,
                TeamMember.team_id == bindparam("team_id", type_=Uuid()),
            )
        ),
    ),
    "teams": (
        "text[]",
        TeamMember.team_id == any_(cast(bindparam("teams", type_=ARRAY(Text())), ARRAY(Uuid()))),
    ),
}
"""The conditions of a filter: the SQL types of their parameters, and the expressions."""


def _adapt(value: object) -> object:
    """Return a value of a filter in the form that a prepared statement takes."""
    if isinstance(value, Mapping):
        return orjson.dumps(value).decode()
    if isinstance(value, Sequence) and not isinstance(value, str):
        return list(map(str, value))
    return str(value)


class CellQuery:
    """A statement on cells, prepared once for each combination of a filter's conditions.

    `build` returns the statement with the given conditions. `types` maps further parameters to
    their SQL types.
    """

    def __init__(
        self,
        name: str,
        build: Callable[[Sequence[ColumnElement[bool]]], Select[Any]],
        *,
        of_teams: bool = False,
        **types: str,
    ) -> None:
        self._name, self._build, self._types = name, build, types
        self._names = [one for one in _CONDITIONS if of_teams or one != "teams"]
        self._prepared: dict[tuple[str, ...], Prepared] = {}

    def read(self, chosen: Filter, *values: object) -> list[Any]:
        """Return the rows of a filter; `values` are those of `types`, in their order."""
        wanted = {name: getattr(chosen, name) for name in self._names}
        wanted = {name: value for name, value in wanted.items() if value is not None}
        return self._prepare(tuple(wanted)).all(
            str(tenancy.current_organization_id()),
            chosen.subject.value,
            chosen.first,
            chosen.end,
            *map(_adapt, wanted.values()),
            *values,
        )

    def _prepare(self, names: tuple[str, ...]) -> Prepared:
        prepared = self._prepared.get(names)
        if prepared is None:
            conditions = [*_USUAL_CONDITIONS, *(_CONDITIONS[name][1] for name in names)]
            types = {**_USUAL, **{name: _CONDITIONS[name][0] for name in names}, **self._types}
            numbers = "".join(str(list(_CONDITIONS).index(name)) for name in names)
            prepared = Prepared.from_select(
                f"quality_{self._name}_{numbers}", self._build(conditions), **types
            )
            self._prepared[names] = prepared
        return prepared


def select_sum(column: Any) -> ColumnElement[int]:
    """Return the exact sum of a counter."""
    return cast(func.sum(column), BigInteger)


__all__ = ["ORGANIZATION", "CellQuery", "Filter", "select_sum"]
