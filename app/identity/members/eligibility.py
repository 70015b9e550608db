"""SQL queries for eligible members.

A member is eligible for work if their role is sufficient and their account is not disabled.
"""

from collections.abc import Iterable
from uuid import UUID

from sqlalchemy import text

from app.kit import db, tenancy
from app.kit.permissions import Role


def build_eligible_members(role: Role, alias: str = "member") -> str:
    """Build SQL for the memberships with at least `role` whose accounts are not disabled.

    The SQL is a table expression for a FROM clause or, in parentheses, for a JOIN clause. `alias`
    is the alias of `memberships`. The caller must filter the memberships by organization.
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


def find_eligible_user_ids(user_ids: Iterable[UUID], role: Role) -> set[UUID]:
    """Return those of `user_ids` who are eligible members with at least `role`."""
    return set(db.session().scalars(text(_FIND_ELIGIBLE[role]), _build_params(user_ids)))


def lock_eligible_members(user_ids: Iterable[UUID], role: Role) -> set[UUID]:
    """Lock the memberships of eligible members, and return their user ids.

    Locks the memberships of those of `user_ids` who are eligible members with at least `role`,
    until the transaction ends. Role changes, removals and the disabling of accounts wait for the
    lock. Therefore, no work can be assigned to a leaving user after the user's work was released.
    """
    statement = text(f"{_FIND_ELIGIBLE[role]} ORDER BY member.user_id FOR SHARE OF member")
    locked_ids = list(db.session().scalars(statement, _build_params(user_ids)))
    # The statement may have waited until an account was disabled, but it reads the accounts as they
    # were before it waited.
    return find_eligible_user_ids(locked_ids, role) if locked_ids else set()


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


def lock_eligible_team_members(team_id: UUID, role: Role) -> list[UUID]:
    """Lock the eligible members of a team with at least `role`, and return their user ids.

    The locks are held until the transaction ends, and the removal of a team member waits for them.
    Therefore, the removal runs after a concurrent assignment to the team, and releases the assigned
    work if no team member can do it.
    """
    # Memberships are locked before team members, in the same order as when a member is removed.
    values = {"org": tenancy.current_organization_id(), "team_id": team_id}
    member_ids = db.session().scalars(_LIST_TEAM_MEMBERS, values)
    eligible_ids = lock_eligible_members(member_ids, role)
    params = {**_build_params(eligible_ids), "team_id": team_id}
    return list(db.session().scalars(_LOCK_TEAM_MEMBERS, params))


def _build_params(user_ids: Iterable[UUID]) -> dict[str, object]:
    ids = [str(user_id) for user_id in user_ids]
    return {"org": tenancy.current_organization_id(), "ids": ids}
