"""SQL queries for teams and team members; for parents and children of teams, see `tree`."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any, NamedTuple
from uuid import UUID

from sqlalchemy import (
    JSON,
    ColumnElement,
    SQLColumnExpression,
    Text,
    Uuid,
    any_,
    bindparam,
    case,
    cast,
    delete,
    func,
    literal,
    null,
    select,
    text,
    update,
)
from sqlalchemy.dialects.postgresql import aggregate_order_by, insert

from app.identity.teams.models import Team, TeamMember
from app.identity.users.models import User
from app.kit import counters, db, tenancy
from app.kit.counters import Cube, Source, build_cubes
from app.kit.counters.spans import DAY, MONTH
from app.kit.pagination import Page, PageRequest, paginate
from app.kit.periods import PERIOD_FILTERS, build_filter_conditions, get_created_bounds
from app.kit.prepared_lists import PreparedList
from app.kit.tenancy import build_join

TEAMS = Source(
    "teams",
    ("root", "created"),
    (Cube("teams", ("root",)), *build_cubes("teams.created", ("root",), "created", MONTH, DAY)),
)
"""The counters for lists of teams; `root` is true for a team that has no parent."""

_ISO_FORMAT = 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'


class TeamDetails(NamedTuple):
    """A team and its members; the lead comes first, then the other members sorted by name."""

    id: UUID
    name: str
    parent_id: UUID | None
    lead_id: UUID | None
    skills: list[str]
    description: str
    member_count: int
    created_at: datetime
    updated_at: datetime
    revision: int
    members: list[dict[str, Any]]


_COLUMNS = db.build_columns(TeamDetails._fields[:-1], Team)
_IS_LEAD = TeamMember.user_id == Team.lead_id
_USER_OBJECT = func.json_build_object("id", User.id, "email", User.email, "name", User.name)
_MEMBER_OBJECT = func.json_build_object(
    "user",
    _USER_OBJECT,
    "role",
    case((_IS_LEAD, "lead"), else_="member"),
    "joined_at",
    func.to_char(func.timezone("UTC", TeamMember.created_at), _ISO_FORMAT),
)
_MEMBER_ORDER = (case((_IS_LEAD, 0), else_=1), User.name, User.id)


def build_json_array(
    item: ColumnElement[Any], *order: SQLColumnExpression[Any]
) -> ColumnElement[Any]:
    """Build an expression that aggregates rows to a sorted JSON array, which may be empty."""
    array = func.json_agg(aggregate_order_by(item, *order))
    return func.coalesce(array, cast(literal("[]"), JSON), type_=JSON())


_MEMBER_ARRAY = (
    select(build_json_array(_MEMBER_OBJECT, *_MEMBER_ORDER))
    .select_from(TeamMember)
    .join(User, User.id == TeamMember.user_id)
    .where(build_join(TeamMember.team_id, Team))
    .correlate(Team)
    .scalar_subquery()
)
_WITH_MEMBERS = select(*_COLUMNS, _MEMBER_ARRAY.label("members")).where(
    Team.id == bindparam("team_id")
)
# The ids are selected as text, because they are only serialized: converting hundreds of ids per
# page to UUID objects would be wasted work.
_SELECT_SUMMARIES = select(
    *(cast(c, Text).label(c.key) if isinstance(c.type, Uuid) else c for c in _COLUMNS),
    null().label("members"),
)
_SORTS = {"name": Team.name, "created_at": Team.created_at}
_BY_NAME = PreparedList(
    "list_teams",
    _SELECT_SUMMARIES.where(Team.organization_id == bindparam("organization_id")),
    counters.build_prepared_total(TEAMS, {}),
    Team.name,
    Team.id,
    "text",
)

# Written as plain SQL so that this module need not import the organizations feature, which depends
# on teams.
_LOCK_MEMBERSHIPS = text(
    """
    SELECT user_id FROM memberships
    WHERE organization_id = :org AND user_id = ANY(CAST(:user_ids AS uuid[]))
    ORDER BY user_id FOR KEY SHARE
    """
)


def get_with_members(team_id: UUID) -> TeamDetails | None:
    """Return a team with its members, or None if the team does not exist."""
    return db.find_row(TeamDetails, _WITH_MEMBERS, {"team_id": team_id})


def team_exists(team_id: UUID) -> bool:
    """Return whether the current organization has a team with this id."""
    return db.session().execute(select(Team.id).where(Team.id == team_id)).first() is not None


def lock(team_id: UUID, *, for_deletion: bool = False) -> Team | None:
    """Lock a team's row until the transaction ends, and return the team.

    If `for_deletion` is true, also waits for transactions that are adding members to the team.
    Returns None if the team does not exist.
    """
    statement = (
        select(Team)
        .where(Team.id == team_id)
        .with_for_update(key_share=not for_deletion)
        .execution_options(populate_existing=True)
    )
    return db.session().execute(statement).scalar_one_or_none()


def get_page(request: PageRequest, filters: dict[str, Any]) -> Page:
    """Return a page of teams without their members.

    `filters` maps the names of the list's query parameters to values.
    """
    if not filters and request.sort == "name":
        return _BY_NAME.get_page(request)
    statement = _SELECT_SUMMARIES.where(*_build_conditions(filters))
    total = None
    if {"root", *PERIOD_FILTERS}.issuperset(filters):
        facets = {"root": filters["root"]} if "root" in filters else {}
        after, before = get_created_bounds(filters)
        in_organization = Team.organization_id == tenancy.current_organization_id()
        rows = select(Team.id).where(in_organization, *_build_conditions(facets))
        between = counters.Between("created", Team.created_at, after, before, rows)
        total = counters.build_total(TEAMS, facets, between=between)
    return paginate(statement, request, sort_columns=_SORTS, unique=Team.id, total=total)


def _build_conditions(filters: Mapping[str, Any]) -> list[ColumnElement[bool]]:
    computed_filters = ("q", "root", "member", "skill")
    conditions = build_filter_conditions(
        Team, {name: value for name, value in filters.items() if name not in computed_filters}
    )
    if "q" in filters:
        conditions.append(Team.name.icontains(filters["q"], autoescape=True))
    if "root" in filters:
        has_parent = Team.parent_id.is_not(None)
        conditions.append(~has_parent if filters["root"] else has_parent)
    if "member" in filters:
        has_member = TeamMember.user_id == filters["member"]
        conditions.append(Team.id.in_(select(TeamMember.team_id).where(has_member)))
    if "skill" in filters:
        conditions.append(literal(filters["skill"]) == any_(Team.skill_keys))
    return conditions


def lock_existing_teams(team_ids: Iterable[UUID]) -> set[UUID]:
    """Lock the teams in `team_ids` that exist, and return their ids.

    The teams cannot be deleted until the transaction ends.
    """
    statement = select(Team.id).where(Team.id.in_(set(team_ids)))
    return set(db.session().scalars(statement.with_for_update(read=True, key_share=True)))


def list_team_ids(user_id: UUID) -> list[UUID]:
    """Return the ids of the teams that a user is in."""
    statement = select(TeamMember.team_id).where(TeamMember.user_id == user_id)
    return list(db.session().scalars(statement.order_by(TeamMember.team_id)))


def lock_memberships(user_ids: Iterable[UUID]) -> set[UUID]:
    """Lock users' memberships in the organization, and return the ids of the users who are members.

    The memberships cannot be deleted until the transaction ends.
    """
    values = {
        "org": tenancy.current_organization_id(),
        "user_ids": [str(user_id) for user_id in user_ids],
    }
    return set(db.session().scalars(_LOCK_MEMBERSHIPS, values))


def add_members(team_ids: Sequence[UUID], user_ids: Collection[UUID]) -> None:
    """Add each user to each team; users who are already in a team are left unchanged."""
    shared_values = {
        "organization_id": tenancy.current_organization_id(),
        "created_at": db.utc_now(),
    }
    rows = [
        {**shared_values, "team_id": team_id, "user_id": user_id}
        for team_id in team_ids
        for user_id in sorted(user_ids)
    ]
    if rows:
        db.session().execute(insert(TeamMember).values(rows).on_conflict_do_nothing())


def lock_members(team_id: UUID, user_id: UUID | None = None) -> None:
    """Lock the `team_members` rows of a team, or only the row of `user_id`.

    Call this function before locking the team itself. The transaction in which a user leaves the
    organization locks the rows in the same order, so the two transactions cannot deadlock.
    """
    rows = select(TeamMember.user_id).where(TeamMember.team_id == team_id)
    if user_id is not None:
        rows = rows.where(TeamMember.user_id == user_id)
    db.session().execute(rows.order_by(TeamMember.user_id).with_for_update()).all()


def remove_member(team_id: UUID, user_id: UUID) -> bool:
    """Remove a user from a team; return false if the user was not a member of the team."""
    statement = (
        delete(TeamMember)
        .where(TeamMember.team_id == team_id, TeamMember.user_id == user_id)
        .returning(TeamMember.user_id)
    )
    return db.execute_bulk(statement).first() is not None


def set_lead(team_id: UUID, user_id: UUID) -> None:
    """Set the lead of a newly created team without changing its `revision` or `updated_at`."""
    statement = update(Team).where(Team.id == team_id)
    db.execute_bulk(statement.values(lead_id=user_id, updated_at=Team.updated_at))
