"""SQL that reads the daily aggregates."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from functools import reduce
from operator import add
from typing import Any
from uuid import UUID

from sqlalchemy import (
    BigInteger,
    ColumnElement,
    Date,
    Row,
    Select,
    String,
    Text,
    Uuid,
    and_,
    cast,
    func,
    literal,
    or_,
    select,
    tuple_,
)
from sqlalchemy.dialects.postgresql import ARRAY

from app.identity.teams.models import Team, TeamMember
from app.identity.users.models import User
from app.insight.quality.models import COUNTERS, QualityCell, Subject
from app.kit import db, tenancy
from app.kit.pagination import Page, PageRequest, paginate
from app.schemas.artifact_schemas.models import ArtifactSchema, SchemaVersion

MAX_ROWS = 500
"""The maximum number of schemas or fields in one response."""


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

    def build(self) -> list[ColumnElement[bool]]:
        """Return the conditions on the cells."""
        conditions: list[ColumnElement[bool]] = [
            QualityCell.organization_id == tenancy.current_organization_id(),
            QualityCell.subject == self.subject.value,
            QualityCell.day >= self.first,
            QualityCell.day < self.end,
        ]
        if self.schema_id is not None:
            conditions.append(QualityCell.schema_id == self.schema_id)
        if self.field is not None:
            conditions.append(QualityCell.name == self.field)
        if self.types is not None:
            pair = tuple_(QualityCell.name, QualityCell.field_type)
            named = QualityCell.name.in_(list(self.types))
            conditions.append(or_(~named, pair.in_(list(self.types.items()))))
        if self.labelers is not None:
            conditions.append(QualityCell.name.in_(list(map(str, self.labelers))))
        if self.team_id is not None:
            members = select(cast(TeamMember.user_id, Text)).where(
                TeamMember.organization_id == tenancy.current_organization_id(),
                TeamMember.team_id == self.team_id,
            )
            conditions.append(QualityCell.name.in_(members))
        return conditions


def _select_sums() -> list[Any]:
    return [cast(func.sum(getattr(QualityCell, name)), BigInteger).label(name) for name in COUNTERS]


def get_counts(row: Row[Any], counters: Sequence[str] = COUNTERS) -> dict[str, int]:
    """Return the counters of a row."""
    return {name: int(getattr(row, name)) for name in counters}


def sum_by_schema(chosen: Filter) -> Sequence[Row[Any]]:
    """Return the sums of each schema, sorted by name; at most `MAX_ROWS` + 1."""
    statement: Select[Any] = (
        select(QualityCell.schema_id, ArtifactSchema.name, *_select_sums())
        .join(
            ArtifactSchema,
            and_(
                ArtifactSchema.organization_id == QualityCell.organization_id,
                ArtifactSchema.id == QualityCell.schema_id,
            ),
        )
        .where(*chosen.build())
        .group_by(QualityCell.schema_id, ArtifactSchema.name)
        .order_by(ArtifactSchema.name, QualityCell.schema_id)
        .limit(MAX_ROWS + 1)
    )
    return db.session().execute(statement).all()


def sum_by_field(chosen: Filter) -> Sequence[Row[Any]]:
    """Return the sums of each field and type, by schema and field; at most `MAX_ROWS` + 1."""
    statement: Select[Any] = (
        select(
            QualityCell.schema_id,
            QualityCell.name.label("field"),
            QualityCell.field_type,
            *_select_sums(),
        )
        .where(*chosen.build())
        .group_by(QualityCell.schema_id, QualityCell.name, QualityCell.field_type)
        .order_by(QualityCell.schema_id, QualityCell.name, QualityCell.field_type)
        .limit(MAX_ROWS + 1)
    )
    return db.session().execute(statement).all()


def get_current_fields(schema_ids: Sequence[UUID]) -> dict[UUID, tuple[str, list[Any]]]:
    """Return the name and the fields of the current version of each schema."""
    if not schema_ids:
        return {}
    statement: Select[Any] = (
        select(ArtifactSchema.id, ArtifactSchema.name, SchemaVersion.fields)
        .join(
            SchemaVersion,
            and_(
                SchemaVersion.organization_id == ArtifactSchema.organization_id,
                SchemaVersion.id == ArtifactSchema.current_version_id,
            ),
        )
        .where(ArtifactSchema.id.in_(schema_ids))
    )
    return {row.id: (row.name, row.fields) for row in db.session().execute(statement)}


def list_people(request: PageRequest, chosen: Filter) -> Page:
    """Return a page of labelers or reviewers with their sums, by id.

    `peers_accepted` and `peers_decided` are the decisions of the others that match.
    """
    user_id = cast(QualityCell.name, Uuid)
    sums = (
        select(user_id.label("user_id"), *_select_sums())
        .where(*chosen.build())
        .group_by(QualityCell.name)
        .cte()
    )
    accepted = sums.c.accepted + sums.c.corrected
    decided = accepted + sums.c.rejected
    people = select(
        sums,
        cast(func.sum(accepted).over() - accepted, BigInteger).label("peers_accepted"),
        cast(func.sum(decided).over() - decided, BigInteger).label("peers_decided"),
    ).subquery()
    statement = select(
        people,
        func.json_build_object("id", User.id, "name", User.name, "email", User.email).label("user"),
    ).join(User, User.id == people.c.user_id)
    count = select(func.count()).select_from(sums)  # read once: a CTE
    return paginate(
        statement,
        request,
        sorts={"id": people.c.user_id},
        unique=people.c.user_id,
        total=count.scalar_subquery(),
    )


def sum_by_bucket(
    chosen: Filter,
    group: ColumnElement[str],
    buckets: Sequence[tuple[date, date]],
    *,
    cases: Sequence[str],
    counters: Sequence[str],
    most: int,
) -> Sequence[Row[Any]]:
    """Return the sums of each group and bucket, of the groups with the most cases, these first.

    `cases` are those of the `counters` that add up to the cases; groups without any are left out.
    One group more than `most` is returned if there are more. The rows have `key`, `bucket` (a
    position in `buckets`) and the counters.
    """
    starts = cast(literal([first for first, _ in buckets], ARRAY(Date)), ARRAY(Date))
    bucket = func.width_bucket(QualityCell.day, starts) - 1
    columns: list[Any] = [getattr(QualityCell, name) for name in counters]
    statement: Select[Any] = select(group.label("key"), bucket.label("bucket"), *columns)
    if group is TEAM:
        statement = _join_teams(statement, chosen)
    cells = statement.where(*chosen.build()).subquery()
    sums: list[Any] = [cast(func.sum(cells.c[name]), BigInteger).label(name) for name in counters]
    grouped = select(cells.c.key, cells.c.bucket, *sums).group_by(cells.c.key, cells.c.bucket)
    summed = grouped.subquery()
    counted = reduce(add, (summed.c[name] for name in cases))
    weight = func.sum(counted).over(partition_by=summed.c.key)
    weighed = select(summed, weight.label("weight")).subquery()
    rank = func.dense_rank().over(order_by=(weighed.c.weight.desc(), weighed.c.key))
    ranked = select(weighed, rank.label("rank")).where(weighed.c.weight > 0).subquery()
    rows = select(ranked).where(ranked.c.rank <= most + 1)
    return db.session().execute(rows.order_by(ranked.c.rank, ranked.c.bucket)).all()


def _join_teams(statement: Select[Any], chosen: Filter) -> Select[Any]:
    """Join the teams of labelers; a labeler counts in each of their teams."""
    joined = statement.join(
        TeamMember,
        and_(
            TeamMember.organization_id == QualityCell.organization_id,
            cast(TeamMember.user_id, Text) == QualityCell.name,
        ),
    )
    return joined if chosen.teams is None else joined.where(TeamMember.team_id.in_(chosen.teams))


ALL: ColumnElement[str] = literal("", String)
SCHEMA: ColumnElement[str] = cast(QualityCell.schema_id, Text)
NAME: ColumnElement[str] = cast(QualityCell.name, Text)
FIELD: ColumnElement[str] = cast(QualityCell.name, Text)
TEAM: ColumnElement[str] = cast(TeamMember.team_id, Text)


def get_names(kind: str, ids: Sequence[str]) -> Mapping[str, str]:
    """Return the names of schemas, teams or labelers by id."""
    models: dict[str, Any] = {"schema": ArtifactSchema, "team": Team, "labeler": User}
    model = models.get(kind)
    if model is None or not ids:
        return {}
    statement = select(cast(model.id, Text).label("id"), model.name).where(model.id.in_(ids))
    return {row.id: row.name for row in db.session().execute(statement)}
