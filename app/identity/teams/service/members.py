"""Service that adds team members, many at once, and removes them one by one."""

from collections import defaultdict
from collections.abc import Iterable
from typing import Any
from uuid import UUID

from app.identity.teams.queries import members, reading
from app.identity.teams.queries.reading import TeamDetails
from app.identity.teams.service.records import get, lock
from app.kit import db, errors, events

MAX_ADDED = 1000


def add_members(
    team_id: UUID,
    *,
    members: list[dict[str, Any]] | None = None,
    user_ids: list[UUID] | None = None,
) -> TeamDetails:
    """Add members of the organization to a team; existing team members stay.

    `members` are {user_id, role}. The role `lead` makes the user the lead, replacing the current
    one; `member` removes the lead role from the user. Without a role, and in `user_ids`, the lead
    does not change. Raises 404 if the team does not exist, and 400 on an empty request, on more
    than `MAX_ADDED` users, on two leads, on a user with two roles, or on the first user who is not
    a member of the organization; `details.user_ids` then lists all such users.
    """
    if not reading.exists(team_id):
        raise errors.not_found()
    requested = _parse_requested(members or [], user_ids or [])
    roles = _roles(requested)
    _check_members(requested)
    team = lock(team_id, None)
    _add([team_id], roles)
    lead = next((user_id for user_id, role in roles.items() if role == "lead"), None)
    if lead is not None:
        team.lead_id = lead
    elif team.lead_id is not None and roles.get(team.lead_id) == "member":
        team.lead_id = None
    db.session().flush()
    return get(team_id)


def remove_member(team_id: UUID, user_id: UUID) -> None:
    """Remove a user from a team.

    Emits `team.member_removed`; its subscribers release the team's pending work once no member is
    left to do it. Raises 404 if the team does not exist or the user is not a member of it.
    """
    members.lock(team_id, user_id)
    team = lock(team_id, None)
    if team.lead_id == user_id:
        team.lead_id = None
        db.session().flush()
    if not members.remove(team_id, user_id):
        raise errors.not_found()
    events.emit("team.member_removed", {"team_id": team_id, "user_id": user_id})


def lock_existing(team_ids: Iterable[UUID]) -> set[UUID]:
    """Return which of `team_ids` exist, and lock them against deletion in this transaction."""
    return reading.lock_existing(sorted(set(team_ids)))


def join(user_id: UUID, team_ids: Iterable[UUID]) -> None:
    """Add a member of the organization to the teams that an invitation names.

    Teams that no longer exist, and teams that the user is already in, are skipped.
    """
    _add(sorted(lock_existing(team_ids)), [user_id])


def list_by_user(user_ids: Iterable[UUID]) -> dict[UUID, list[dict[str, Any]]]:
    """Return the teams of each user, sorted by name: {user id: [{id, name}]}.

    Users who are in no team are omitted.
    """
    teams: dict[UUID, list[dict[str, Any]]] = defaultdict(list)
    for user_id, team_id, name in reading.list_by_user(list(user_ids)):
        teams[user_id].append({"id": team_id, "name": name})
    return dict(teams)


def _add(team_ids: list[UUID], user_ids: Iterable[UUID]) -> None:
    members.add(team_ids, sorted(user_ids))


RequestedMembers = list[tuple[str, UUID, str | None]]
"""For each requested user: the path in the request body, the id, and the role or None."""


def _parse_requested(members: list[dict[str, Any]], user_ids: list[UUID]) -> RequestedMembers:
    requested: RequestedMembers = [
        (f"members.{index}.user_id", member["user_id"], member.get("role"))
        for index, member in enumerate(members)
    ]
    requested += [(f"user_ids.{index}", user_id, None) for index, user_id in enumerate(user_ids)]
    if not requested:
        raise errors.invalid(
            "At least one user is required, in `members` or `user_ids`.", "members"
        )
    if len(requested) > MAX_ADDED:
        raise errors.invalid(f"At most {MAX_ADDED} users can be added at once.", "members")
    return requested


def _roles(requested: RequestedMembers) -> dict[UUID, str | None]:
    roles: dict[UUID, str | None] = {}
    for path, user_id, role in requested:
        if role is not None and roles.get(user_id) not in (None, role):
            raise errors.invalid("This user is listed twice, with different roles.", path)
        roles[user_id] = role or roles.get(user_id)
    if list(roles.values()).count("lead") > 1:
        raise errors.invalid("A team can have only one lead.", "members")
    return roles


def _check_members(requested: RequestedMembers) -> None:
    member_ids = members.lock_memberships({user_id for _, user_id, _ in requested})
    unknown = [(path, user_id) for path, user_id, _ in requested if user_id not in member_ids]
    if unknown:
        raise errors.invalid(
            "Must be members of the organization.",
            unknown[0][0],
            user_ids=list(dict.fromkeys(user_id for _, user_id in unknown)),
        )
