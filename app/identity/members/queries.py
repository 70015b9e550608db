"""SQL queries for listing, changing and removing members."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any, NamedTuple
from uuid import UUID

from sqlalchemy import (
    ColumnElement,
    Text,
    and_,
    bindparam,
    cast,
    delete,
    exists,
    func,
    or_,
    select,
    update,
)

from app.identity.organizations.models import Membership
from app.identity.teams import queries as team_queries
from app.identity.teams.models import Team, TeamMember
from app.identity.users.models import User
from app.kit import counters, db, tenancy
from app.kit.counters import Cube, Source, build_cubes
from app.kit.counters.spans import DAY, MONTH
from app.kit.pagination import Page, PageRequest, build_period_conditions, paginate
from app.kit.periods import get_created_bounds
from app.kit.prepared_lists import PreparedList
from app.kit.tenancy import build_join

MEMBERS = Source(
    "members",
    ("role", "joined"),
    (Cube("members", ("role",)), *build_cubes("members.joined", ("role",), "joined", MONTH, DAY)),
)
"""The counters for lists of members; `joined` is the time when a member joined."""

_TEAM_ARRAY = (
    select(
        team_queries.build_json_array(
            func.json_build_object("id", Team.id, "name", Team.name), Team.name, Team.id
        )
    )
    .select_from(TeamMember)
    .join(Team, build_join(TeamMember.team_id, Team))
    .where(
        TeamMember.organization_id == Membership.organization_id,
        TeamMember.user_id == Membership.user_id,
    )
    .correlate(Membership)
    .scalar_subquery()
)
# The ids are selected as text, because they are only serialized: converting hundreds of ids per
# page to UUID objects would be wasted work.
_COLUMNS: tuple[Any, ...] = (
    cast(Membership.user_id, Text).label("user_id"),
    cast(Membership.user_id, Text).label("id"),
    func.json_build_object("id", User.id, "email", User.email, "name", User.name).label("user"),
    Membership.role,
    _TEAM_ARRAY.label("teams"),
    Membership.sort_name,
    Membership.created_at.label("joined_at"),
    Membership.created_at,
    func.coalesce(Membership.updated_at, Membership.created_at).label("updated_at"),
    Membership.revision,
)
_MEMBERS = select(*_COLUMNS).join(User, User.id == Membership.user_id)
_SORTS = {"name": Membership.sort_name, "joined_at": Membership.created_at}
_BY_NAME = PreparedList(
    "list_members",
    _MEMBERS.where(Membership.organization_id == bindparam("organization_id")),
    counters.build_prepared_total(MEMBERS, {}),
    Membership.sort_name,
    Membership.user_id,
    "text",
)


def get_page(request: PageRequest, filters: Mapping[str, Any]) -> Page:
    """Return a page of the members that match the filters, with their teams."""
    if not filters and request.sort == "name":
        return _BY_NAME.get_page(request)
    conditions = _build_conditions(filters)
    statement = _MEMBERS.where(*conditions)
    if "q" not in filters and "team_id" not in filters:
        total = _build_total(filters)
        return paginate(
            statement, request, sort_columns=_SORTS, unique=Membership.user_id, total=total
        )
    # The count query joins `users` only if the filter needs it.
    count_query = select(Membership.user_id).where(*conditions)
    text = filters.get("q")
    if text is not None:
        contains_text = or_(
            User.name.icontains(text, autoescape=True), User.email.icontains(text, autoescape=True)
        )
        statement = statement.where(contains_text)
        count_query = count_query.join(User, User.id == Membership.user_id).where(contains_text)
    return paginate(
        statement, request, sort_columns=_SORTS, unique=Membership.user_id, counted_rows=count_query
    )


def _build_total(filters: Mapping[str, Any]) -> ColumnElement[int]:
    facets = {"role": filters["role"]} if "role" in filters else {}
    after, before = get_created_bounds(filters)
    rows = select(Membership.user_id).where(
        Membership.organization_id == tenancy.current_organization_id(), *_build_conditions(facets)
    )
    between = counters.Between("joined", Membership.created_at, after, before, rows)
    return counters.build_total(MEMBERS, facets, between=between)


def _build_conditions(filters: Mapping[str, Any]) -> list[ColumnElement[bool]]:
    conditions: list[ColumnElement[bool]] = []
    if "role" in filters:
        conditions.append(Membership.role == filters["role"])
    conditions += build_period_conditions(Membership.created_at, *get_created_bounds(filters))
    if "team_id" in filters:
        in_team = and_(
            TeamMember.organization_id == Membership.organization_id,
            TeamMember.user_id == Membership.user_id,
            TeamMember.team_id == filters["team_id"],
        )
        conditions.append(exists().where(in_team))
    return conditions


class MemberDetails(NamedTuple):
    """A member with the same columns as in `get_page`; `user_id` and `id` are equal."""

    user_id: str
    id: str
    user: dict[str, str]
    role: str
    teams: list[dict[str, str]]
    sort_name: str
    joined_at: datetime
    created_at: datetime
    updated_at: datetime
    revision: int


def get(user_id: UUID) -> MemberDetails | None:
    """Return a member with their teams, or None if the user is not a member."""
    return db.find_row(MemberDetails, _MEMBERS.where(Membership.user_id == user_id))


def lock_and_check_disabled(user_id: UUID) -> bool:
    """Lock an account in share mode until the transaction ends; return whether it is disabled."""
    statement = select(User.disabled_at).where(User.id == user_id)
    return db.session().execute(statement.with_for_update(read=True)).scalar_one() is not None


def lock_and_count_other_owners(user_id: UUID) -> int:
    """Lock and count the enabled accounts of the organization's owners, except `user_id`.

    The accounts cannot be disabled until the transaction ends. Call this function before locking
    a membership, because users are locked first.
    """
    statement = (
        select(User.id)
        .join(Membership, Membership.user_id == User.id)
        .where(
            Membership.role == "owner", Membership.user_id != user_id, User.disabled_at.is_(None)
        )
        .order_by(User.id)
        .with_for_update(read=True, of=User)
    )
    return len(db.session().scalars(statement).all())


def set_role(user_id: UUID, role: str) -> None:
    """Set a member's role and increment the membership's revision."""
    values = {"role": role, "revision": Membership.revision + 1, "updated_at": func.now()}
    db.execute_bulk(update(Membership).where(Membership.user_id == user_id).values(values))


def lock_and_list_team_ids(user_id: UUID) -> list[UUID]:
    """Lock a membership until the transaction ends, and return the ids of the member's teams.

    While the membership is locked, no concurrent request can add the user to a team.
    """
    db.session().execute(
        select(Membership.user_id).where(Membership.user_id == user_id).with_for_update()
    )
    return team_queries.list_team_ids(user_id)


def remove(user_id: UUID) -> None:
    """Remove a member from the organization and its teams."""
    db.execute_bulk(delete(Membership).where(Membership.user_id == user_id))
