"""SQL queries that add up the daily aggregates (cells) of schemas, fields and people."""

from collections.abc import Sequence
from functools import partial
from typing import Any, Protocol
from uuid import UUID

from sqlalchemy import (
    BigInteger,
    Select,
    Subquery,
    Text,
    Uuid,
    and_,
    any_,
    asc,
    bindparam,
    cast,
    desc,
    func,
    or_,
    select,
)
from sqlalchemy.dialects.postgresql import ARRAY

from app.identity.users.models import User
from app.insight.quality.models import COUNTERS
from app.insight.quality.queries.selections import (
    ORGANIZATION,
    CellFilter,
    CellQuery,
    RowSource,
    build_sum,
)
from app.kit import tenancy
from app.kit.pagination import Page, PageRequest, PageStart, paginate_rows
from app.kit.prepared import Prepared
from app.kit.tenancy import build_join
from app.schemas.artifact_schemas.models import ArtifactSchema, SchemaVersion

MAX_ROWS = 500
"""The maximum number of schemas or fields in one response."""


class SumRow(Protocol):
    """A row with sums of counters; `_asdict` maps the names of its columns to their values."""

    def _asdict(self) -> dict[str, Any]: ...


class SchemaRow(SumRow, Protocol):
    """The counter sums of a schema."""

    schema_id: UUID
    name: str


class FieldRow(SumRow, Protocol):
    """The counter sums of a field for its current type or for one of its earlier types."""

    schema_id: UUID
    field: str
    field_type: str


class PersonRow(SumRow, Protocol):
    """The counter sums of one labeler or reviewer.

    `peers_accepted` and `peers_decided` are the total numbers of acceptances and decisions that are
    counted for all other people who match the filter.
    """

    user_id: UUID
    name: str
    email: str
    peers_accepted: int
    peers_decided: int


_FIELD_COUNTERS = ("accepted", "corrected", "compared", "agreement")


def _build_sum_columns(cells: Subquery, names: Sequence[str] = COUNTERS) -> list[Any]:
    return [build_sum(cells.c[name]).label(name) for name in names]


def _select_by_schema(cells: Subquery, _source: RowSource) -> Select[Any]:
    return (
        select(cells.c.schema_id, ArtifactSchema.name, *_build_sum_columns(cells))
        .join(
            ArtifactSchema,
            and_(
                ArtifactSchema.organization_id == ORGANIZATION,
                ArtifactSchema.id == cells.c.schema_id,
            ),
        )
        .group_by(cells.c.schema_id, ArtifactSchema.name)
        .order_by(ArtifactSchema.name, cells.c.schema_id)
        .limit(MAX_ROWS + 1)
    )


def _select_by_field(cells: Subquery, _source: RowSource) -> Select[Any]:
    key = (cells.c.schema_id, cells.c.name, cells.c.field_type)
    return (
        select(key[0], key[1].label("field"), key[2], *_build_sum_columns(cells, _FIELD_COUNTERS))
        .group_by(*key)
        .order_by(*key)
        .limit(MAX_ROWS + 1)
    )


def _select_people(cells: Subquery, _source: RowSource, *, descending: bool) -> Select[Any]:
    """Build the statement for people after the user id in the parameter `edge`, if it is set."""
    user_id = cast(cells.c.name, Uuid)
    sums = (
        select(user_id.label("user_id"), *_build_sum_columns(cells))
        .group_by(cells.c.name)
        .subquery("own")
    )
    acceptances = sums.c.accepted + sums.c.corrected
    decisions = acceptances + sums.c.rejected
    people = select(
        sums,
        cast(func.sum(acceptances).over() - acceptances, BigInteger).label("peers_accepted"),
        cast(func.sum(decisions).over() - decisions, BigInteger).label("peers_decided"),
        func.count().over().label("page_total"),
    ).subquery("people")
    edge = bindparam("edge", type_=Uuid())
    is_after_edge = people.c.user_id < edge if descending else people.c.user_id > edge
    return (
        select(*people.c, User.name, User.email)
        .join(User, User.id == people.c.user_id)
        .where(or_(edge.is_(None), is_after_edge))
        .order_by(desc(people.c.user_id) if descending else asc(people.c.user_id))
        .limit(bindparam("page_limit"))
    )


_BY_SCHEMA = CellQuery("schemas", _select_by_schema, by_schema=True)
_BY_FIELD = CellQuery("fields", _select_by_field, by_schema=True)
_PEOPLE = {
    descending: CellQuery(
        f"people_{'desc' if descending else 'asc'}",
        partial(_select_people, descending=descending),
        edge="uuid",
        page_limit="int",
    )
    for descending in (False, True)
}


def sum_by_schema(cell_filter: CellFilter) -> Sequence[SchemaRow]:
    """Sum the counters of each schema; return at most MAX_ROWS + 1 rows, sorted by schema name."""
    return _BY_SCHEMA.read(cell_filter)


def sum_by_field(cell_filter: CellFilter) -> Sequence[FieldRow]:
    """Sum the counters of each schema, field and field type; return at most `MAX_ROWS` + 1 rows.

    The rows are sorted by schema, field and field type. They have only the counters of corrections
    and agreement.
    """
    return _BY_FIELD.read(cell_filter)


def list_people(request: PageRequest, cell_filter: CellFilter) -> Page:
    """Return a page of labelers or reviewers, each as a `PersonRow`, ordered by user id."""

    def fetch(page_start: PageStart) -> tuple[list[PersonRow], int | None]:
        start_id = next(map(str, page_start.values.values()), None)
        rows = _PEOPLE[page_start.descending].read(cell_filter, start_id, page_start.limit)
        # The total is from the same snapshot: if the first page is empty, the list is empty.
        return rows, int(rows[0].page_total) if rows else 0

    return paginate_rows(request, {"user_id": UUID}, fetch)


# psycopg2 sends lists of ids as text arrays.
_IDS: object = any_(cast(bindparam("ids", type_=ARRAY(Text())), ARRAY(Uuid())))
_CURRENT_SCHEMAS = Prepared.from_select(
    "quality_current_fields",
    select(ArtifactSchema.id, ArtifactSchema.name, SchemaVersion.fields)
    .join(SchemaVersion, build_join(ArtifactSchema.current_version_id, SchemaVersion))
    .where(ArtifactSchema.organization_id == ORGANIZATION, ArtifactSchema.id == _IDS),
    organization_id="uuid",
    ids="text[]",
)


def get_current_schemas(schema_ids: Sequence[UUID]) -> dict[UUID, tuple[str, list[Any]]]:
    """Return the name and the current fields of each schema, by schema id.

    Schemas without a current version are left out.
    """
    if not schema_ids:
        return {}
    organization_id = str(tenancy.current_organization_id())
    rows = _CURRENT_SCHEMAS.all(organization_id, list(map(str, schema_ids)))
    return {row.id: (row.name, row.fields) for row in rows}
