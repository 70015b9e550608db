"""Service that lists, creates, updates, moves and deletes teams, and adds and removes members."""

from collections.abc import Iterable
from typing import Any
from uuid import UUID

from app.identity.teams import emitted_events, queries, tree
from app.identity.teams import skills as normalization
from app.identity.teams.models import MAX_DEPTH, Team
from app.identity.teams.queries import TeamDetails
from app.kit import db, errors, events
from app.kit.pagination import Page, PageRequest

list_team_ids = queries.list_team_ids
lock_existing_teams = queries.lock_existing_teams
MAX_ADDED_MEMBERS = 1000
RequestedMembers = list[tuple[str, UUID, str | None]]
"""The users in a request, each as the path in the request body, the user id, and a role or None."""


def list_teams(page: PageRequest, filters: dict[str, Any]) -> Page:
    """Return a page of teams without their members.

    `filters` may contain q, parent_id, root, lead_id, member, skill, created_after and
    created_before.
    """
    if "skill" in filters:
        filters = {**filters, "skill": normalization.get_comparison_key(filters["skill"])}
    return queries.get_page(page, filters)


def get(team_id: UUID) -> TeamDetails:
    """Return a team with its members. Raises 404 if the team does not exist."""
    return errors.require_found(queries.get_with_members(team_id))


def create(
    *,
    name: str,
    parent_id: UUID | None = None,
    lead_id: UUID | None = None,
    skills: list[str] | None = None,
    description: str = "",
) -> TeamDetails:
    """Create a team; its lead, if any, becomes its first member.

    Raises 400 for an invalid `parent_id` or `lead_id`, and 409 `conflict` if a sibling team already
    has the name.
    """
    if parent_id is not None:
        tree.lock()
        _check_parent(parent_id, height=1)
    _lock_lead_membership(lead_id)
    team = Team(name=name, parent_id=parent_id, description=description)
    _set_skills(team, skills or [])
    db.session().add(team)
    db.session().flush()
    if lead_id is not None:
        queries.add_members([team.id], [lead_id])
        queries.set_lead(team.id, lead_id)
    return get(team.id)


def update(team_id: UUID, *, revision: int | None, changes: dict[str, Any]) -> TeamDetails:
    """Update a team's name, parent, lead, skills or description; a new lead becomes a member.

    Raises 404, 409 `stale_precondition`, 409 `conflict` if a sibling team already has the name, 400
    for `lead_id` if the user is not a member of the organization, and 400 for `parent_id` if there
    is no such team, the team would be below itself or the tree would be too deep.
    """
    if "parent_id" in changes:
        tree.lock()
    if not queries.team_exists(team_id):
        raise errors.not_found()
    _lock_lead_membership(changes.get("lead_id"))
    team = _lock_team(team_id, revision)
    parent_id = changes.get("parent_id", team.parent_id)
    if parent_id is not None and parent_id != team.parent_id:
        _check_parent(parent_id, height=tree.get_height(team_id), moved_team_id=team_id)
    if changes.get("lead_id") is not None:
        queries.add_members([team_id], [changes["lead_id"]])
    if "skills" in changes:
        _set_skills(team, changes["skills"])
    for field in ("name", "parent_id", "lead_id", "description"):
        if field in changes:
            setattr(team, field, changes[field])
    db.session().flush()
    return get(team_id)


def delete(team_id: UUID, *, revision: int | None, deleted_by: UUID) -> None:
    """Delete a team, and move its children up to its parent.

    Emits `team.deleted`; its subscribers release the team's open work to the pool. Raises 404, 409
    `stale_precondition`, and 409 `conflict` if a child has the same name as another team under the
    parent; `details.names` lists these names.
    """
    tree.lock()
    queries.lock_members(team_id)
    team = _lock_team(team_id, revision, for_deletion=True)
    conflicting_names = tree.list_conflicting_names(team_id, team.parent_id)
    if conflicting_names:
        raise errors.conflict(
            "Child teams have the same names as other teams under the parent. Rename them first.",
            names=conflicting_names,
        )
    db.session().expunge(team)
    tree.delete_team(team_id, team.parent_id)
    payload: emitted_events.DeletedPayload = {
        "team_id": team_id,
        "name": team.name,
        "parent_id": team.parent_id,
        "deleted_by": deleted_by,
    }
    events.emit(emitted_events.DELETED, payload)


def _lock_team(team_id: UUID, revision: int | None, *, for_deletion: bool = False) -> Team:
    """Lock a team's row until the transaction ends, and return the team.

    Raises 404 if the team does not exist, and 409 if `revision` is not None and outdated.
    """
    team = errors.require_found(queries.lock(team_id, for_deletion=for_deletion))
    errors.check_revision(revision, team.revision)
    return team


def _lock_lead_membership(user_id: UUID | None) -> None:
    """Lock the lead's membership; raise 400 for `lead_id` if the user is not a member.

    Call this function before locking the team, to prevent deadlocks: when a user leaves the
    organization, the membership is also locked before the teams. Does nothing if `user_id` is None.
    """
    if user_id is not None and not queries.lock_memberships([user_id]):
        raise errors.invalid("Must be a member of the organization.", "lead_id")


def _check_parent(parent_id: UUID, *, height: int, moved_team_id: UUID | None = None) -> None:
    """Raise 400 for `parent_id` unless a team can be created under it or moved under it.

    `height` is the number of levels in the team's own subtree. `moved_team_id` is None for a new
    team.
    """
    path_ids = tree.list_path_ids(parent_id)
    if not path_ids:
        raise errors.invalid("The parent team does not exist.", "parent_id")
    if moved_team_id in path_ids:
        raise errors.invalid("A team cannot be moved under itself or its descendants.", "parent_id")
    if len(path_ids) + height > MAX_DEPTH:
        raise errors.invalid(f"A tree of teams can have at most {MAX_DEPTH} levels.", "parent_id")


def _set_skills(team: Team, skills: list[str]) -> None:
    skills_by_key = normalization.deduplicate_skills(skills)
    if list(skills_by_key.values()) != team.skills:
        team.skills, team.skill_keys = list(skills_by_key.values()), list(skills_by_key)


def add_members(
    team_id: UUID,
    *,
    members: list[dict[str, Any]] | None = None,
    user_ids: list[UUID] | None = None,
    revision: int | None = None,
) -> TeamDetails:
    """Add members of the organization to a team; existing team members stay.

    Each item of `members` contains `user_id` and optionally `role`. The role `lead` replaces the
    team's current lead; the role `member` removes the lead role from the user. Users without a role
    and users in `user_ids` do not change the lead.

    Raises 404 if the team does not exist, 409 `stale_precondition` if `revision` is outdated, and
    400 if the request contains no users, more than `MAX_ADDED_MEMBERS` users, two leads, a user
    with two roles, or users who are not members of the organization; `details.user_ids` lists the
    users who are not members.
    """
    if not queries.team_exists(team_id):
        raise errors.not_found()
    requested_members = _parse_members(members or [], user_ids or [])
    roles = _merge_roles(requested_members)
    _lock_memberships(requested_members)
    team = _lock_team(team_id, revision)
    queries.add_members([team_id], roles)
    new_lead_id = next((user_id for user_id, role in roles.items() if role == "lead"), None)
    if new_lead_id is not None:
        team.lead_id = new_lead_id
    elif team.lead_id is not None and roles.get(team.lead_id) == "member":
        team.lead_id = None
    db.session().flush()
    return get(team_id)


def remove_member(team_id: UUID, user_id: UUID, *, revision: int | None = None) -> None:
    """Remove a user from a team; if the user is the lead, the team then has no lead.

    Emits `team.member_removed`; its subscribers release the pending work that none of the team's
    remaining members can do. Raises 404 if the team does not exist or does not have this member,
    and 409 `stale_precondition` if `revision` is outdated.
    """
    queries.lock_members(team_id, user_id)
    team = _lock_team(team_id, revision)
    if team.lead_id == user_id:
        team.lead_id = None
        db.session().flush()
    if not queries.remove_member(team_id, user_id):
        raise errors.not_found()
    events.emit(
        emitted_events.MEMBER_REMOVED,
        emitted_events.MemberRemovedPayload(team_id=team_id, user_id=user_id),
    )


def join(user_id: UUID, team_ids: Iterable[UUID]) -> None:
    """Add a member of the organization to teams.

    Skips teams that no longer exist and teams that the user is already in.
    """
    queries.add_members(sorted(queries.lock_existing_teams(team_ids)), [user_id])


def _parse_members(members: list[dict[str, Any]], user_ids: list[UUID]) -> RequestedMembers:
    requested_members: RequestedMembers = [
        (f"members.{index}.user_id", member["user_id"], member.get("role"))
        for index, member in enumerate(members)
    ]
    requested_members += [
        (f"user_ids.{index}", user_id, None) for index, user_id in enumerate(user_ids)
    ]
    if not requested_members:
        raise errors.invalid(
            "At least one user is required, in `members` or `user_ids`.", "members"
        )
    if len(requested_members) > MAX_ADDED_MEMBERS:
        raise errors.invalid(
            f"At most {MAX_ADDED_MEMBERS} users can be added in one request.", "members"
        )
    return requested_members


def _merge_roles(requested_members: RequestedMembers) -> dict[UUID, str | None]:
    """Return each user's role, or None for a user without a role, by user id.

    Raises 400 if there are two leads, or if a user is listed with two roles.
    """
    roles: dict[UUID, str | None] = {}
    for path, user_id, role in requested_members:
        if role is not None and roles.get(user_id) not in (None, role):
            raise errors.invalid("This user is listed twice, with different roles.", path)
        roles[user_id] = role or roles.get(user_id)
    if list(roles.values()).count("lead") > 1:
        raise errors.invalid("A team can have only one lead.", "members")
    return roles


def _lock_memberships(requested_members: RequestedMembers) -> None:
    """Lock the users' memberships; raise 400 if any user is not a member of the organization."""
    member_ids = queries.lock_memberships({user_id for _, user_id, _ in requested_members})
    unknown_members = [
        (path, user_id) for path, user_id, _ in requested_members if user_id not in member_ids
    ]
    if unknown_members:
        raise errors.invalid(
            "Every user must be a member of the organization.",
            unknown_members[0][0],
            user_ids=list(dict.fromkeys(user_id for _, user_id in unknown_members)),
        )
