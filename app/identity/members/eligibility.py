"""Queries for members who may label or review: those with the role and an enabled account."""

from collections.abc import Iterable
from uuid import UUID

from sqlalchemy import text

from app.kit import db, tenancy
from app.kit.permissions import Role


def build_eligible_members(role: Role, alias: str = "member") -> str:
    """Return SQL for the memberships with at least `role` whose accounts are not disabled.

    The SQL is a table expression for FROM, or in parentheses for JOIN. `alias` names the
    membership; the caller must filter it by organization.
    """
    roles = ", ".join(f"'{allowed.name}'" for allowed in Role if allowed >= role)
    return (
        f"memberships {alias} JOIN users {alias}_account"
        f" ON {alias}_account.id = {alias}.user_id AND {alias}_account.disabled_at IS NULL"
        f" AND {alias}.role IN ({roles})"
    )


_FIND = {
    role: (
        f"SELECT member.user_id FROM {build_eligible_members(role)}"  # noqa: S608 - made of constants
        " WHERE member.organization_id = :org AND member.user_id = ANY (CAST(:ids AS uuid[]))"
    )
    for role in Role
}


def find_eligible(user_ids: Iterable[UUID], role: Role) -> set[UUID]:
    """Return the ids of the users who have an enabled account and at least `role`."""
    return set(db.session().scalars(text(_FIND[role]), _bind_values(user_ids)))


def lock_eligible(user_ids: Iterable[UUID], role: Role) -> set[UUID]:
    """Return the ids of the eligible users, and keep them eligible until the transaction ends.

    A change of role or a removal waits for the lock, so a user who leaves is assigned no work after
    their work was released.
    """
    statement = text(f"{_FIND[role]} ORDER BY member.user_id FOR SHARE OF member")
    return set(db.session().scalars(statement, _bind_values(user_ids)))


_LIST_OF_TEAM = text(
    "SELECT user_id FROM team_members WHERE organization_id = :org AND team_id = :team_id"
)
_LOCK_OF_TEAM = text(
    """
    SELECT user_id FROM team_members
    WHERE organization_id = :org AND team_id = :team_id AND user_id = ANY (CAST(:ids AS uuid[]))
    ORDER BY user_id FOR SHARE
    """
)


def lock_eligible_of_team(team_id: UUID, role: Role) -> list[UUID]:
    """Return the eligible members of a team, and keep them in it until the transaction ends.

    The removal of a member waits for the lock, so it runs after an assignment to the team and also
    unassigns what the team can no longer do.
    """
    # Memberships are locked before team members, as in the removal of a member.
    eligible = lock_eligible(_list_team_members(team_id), role)
    return list(db.session().scalars(_LOCK_OF_TEAM, {**_bind_values(eligible), "team_id": team_id}))


def has_eligible(team_id: UUID, role: Role) -> bool:
    """Return True if a member of the team is eligible."""
    return bool(find_eligible(_list_team_members(team_id), role))


def _list_team_members(team_id: UUID) -> Iterable[UUID]:
    values = {"org": tenancy.current_organization_id(), "team_id": team_id}
    return db.session().scalars(_LIST_OF_TEAM, values)


def _bind_values(user_ids: Iterable[UUID]) -> dict[str, object]:
    ids = [str(user_id) for user_id in user_ids]
    return {"org": tenancy.current_organization_id(), "ids": ids}
