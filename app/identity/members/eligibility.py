"""SQL queries for eligible members, who have a sufficient role and an enabled account."""

from collections.abc import Iterable
from uuid import UUID

from sqlalchemy import text

from app.kit import db, tenancy
from app.kit.permissions import Role


def build_eligible_members(role: Role, alias: str = "member") -> str:
    """Return SQL for the memberships with at least `role` whose accounts are not disabled.

    The SQL is a table expression for FROM, or in parentheses for JOIN. `alias` is the alias of
    `memberships`; the caller must filter the memberships by organization.
    """
    roles = ", ".join(f"'{eligible_role.name}'" for eligible_role in Role if eligible_role >= role)
    return (
        f"memberships {alias} JOIN users {alias}_account"
        f" ON {alias}_account.id = {alias}.user_id AND {alias}_account.disabled_at IS NULL"
        f" AND {alias}.role IN ({roles})"
    )


_FIND_ELIGIBLE = {
    role: (
        f"SELECT member.user_id FROM {build_eligible_members(role)}"  # noqa: S608 - made of constants
        " WHERE member.organization_id = :org AND member.user_id = ANY (CAST(:ids AS uuid[]))"
    )
    for role in Role
}


def find_eligible(user_ids: Iterable[UUID], role: Role) -> set[UUID]:
    """Return the ids of the users who have an enabled account and at least `role`."""
    return set(db.session().scalars(text(_FIND_ELIGIBLE[role]), _build_params(user_ids)))


def lock_eligible(user_ids: Iterable[UUID], role: Role) -> set[UUID]:
    """Return the ids of the eligible users, and keep them eligible until the transaction ends.

    Role changes and removals wait for the lock. Therefore nobody can assign work to a leaving user
    after the user's work was released.
    """
    statement = text(f"{_FIND_ELIGIBLE[role]} ORDER BY member.user_id FOR SHARE OF member")
    return set(db.session().scalars(statement, _build_params(user_ids)))


_LIST_TEAM_MEMBERS = text(
    "SELECT user_id FROM team_members WHERE organization_id = :org AND team_id = :team_id"
)
_LOCK_TEAM_MEMBERS = text(
    """
    SELECT user_id FROM team_members
    WHERE organization_id = :org AND team_id = :team_id AND user_id = ANY (CAST(:ids AS uuid[]))
    ORDER BY user_id FOR SHARE
    """
)


def lock_eligible_of_team(team_id: UUID, role: Role) -> list[UUID]:
    """Return the ids of the eligible members of a team, and keep them in the team until commit.

    The removal of a member waits for the lock. It therefore runs after an assignment to the team,
    and then also releases work that the team can no longer do.
    """
    # Memberships are locked before team members, in the same order as when a member is removed.
    eligible = lock_eligible(_list_team_member_ids(team_id), role)
    return list(
        db.session().scalars(_LOCK_TEAM_MEMBERS, {**_build_params(eligible), "team_id": team_id})
    )


def has_eligible(team_id: UUID, role: Role) -> bool:
    """Return True if at least one member of the team is eligible."""
    return bool(find_eligible(_list_team_member_ids(team_id), role))


def _list_team_member_ids(team_id: UUID) -> Iterable[UUID]:
    values = {"org": tenancy.current_organization_id(), "team_id": team_id}
    return db.session().scalars(_LIST_TEAM_MEMBERS, values)


def _build_params(user_ids: Iterable[UUID]) -> dict[str, object]:
    ids = [str(user_id) for user_id in user_ids]
    return {"org": tenancy.current_organization_id(), "ids": ids}
