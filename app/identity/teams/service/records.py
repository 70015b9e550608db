"""Service that creates, lists, updates, moves and deletes teams."""

from typing import Any
from uuid import UUID

from app.identity.teams.models import MAX_DEPTH, Team
from app.identity.teams.queries import members, reading, tree
from app.identity.teams.queries.reading import TeamDetails
from app.identity.teams.service import skills as normalization
from app.kit import db, errors, events
from app.kit.pagination import Page, PageRequest


def list_teams(page: PageRequest, filters: dict[str, Any]) -> Page:
    """Return a page of teams without their members.

    `filters` may have q, parent_id, root, lead_id, member, skill, created_after and created_before.
    """
    if "skill" in filters:
        filters = {**filters, "skill": normalization.get_comparison_key(filters["skill"])}
    return reading.get_page(page, filters)


def get(team_id: UUID) -> TeamDetails:
    """Return a team with its members. Raises 404."""
    team = reading.get_with_members(team_id)
    if team is None:
        raise errors.not_found()
    return team


def create(
    *,
    name: str,
    parent_id: UUID | None = None,
    lead_id: UUID | None = None,
    skills: list[str] | None = None,
    description: str = "",
) -> TeamDetails:
    """Create a team; its lead, if any, becomes its first member.

    Raises 400 on an invalid `parent_id` or `lead_id`, and 409 `conflict` if a sibling team already
    has the name.
    """
    if parent_id is not None:
        tree.lock()
        _check_parent(parent_id, "parent_id", height=1)
    check_lead(lead_id)
    team = Team(name=name, parent_id=parent_id, description=description)
    _set_skills(team, skills or [])
    db.session().add(team)
    db.session().flush()
    if lead_id is not None:
        members.add([team.id], [lead_id])
        members.set_lead(team.id, lead_id)
    return get(team.id)


def update(team_id: UUID, *, revision: int | None, changes: dict[str, Any]) -> TeamDetails:
    """Update name, parent, lead, skills or description; a new lead becomes a member.

    Raises 404; 409 `stale_precondition`, or `conflict` if a sibling team already has the name; 400
    on `parent_id` (no such team, a cycle, too deep) or `lead_id`.
    """
    if "parent_id" in changes:
        tree.lock()
    if not reading.exists(team_id):
        raise errors.not_found()
    check_lead(changes.get("lead_id"))
    team = lock(team_id, revision)
    parent_id = changes.get("parent_id", team.parent_id)
    if parent_id is not None and parent_id != team.parent_id:
        _check_move(team_id, parent_id)
    if changes.get("lead_id") is not None:
        members.add([team_id], [changes["lead_id"]])
    if "skills" in changes:
        _set_skills(team, changes["skills"])
    for member in ("name", "parent_id", "lead_id", "description"):
        if member in changes:
            setattr(team, member, changes[member])
    db.session().flush()
    return get(team_id)


def delete(team_id: UUID, *, revision: int | None, deleted_by: UUID) -> None:
    """Delete a team, move its children up to its parent, and release its open work to the pool.

    Emits `team.deleted`. Raises 404; 409 `stale_precondition`, or `conflict` with the child names
    in `details.names` that already exist under the parent.
    """
    tree.lock()
    members.lock(team_id)
    team = lock(team_id, revision)
    conflicting_names = tree.list_conflicting_names(team_id, team.parent_id)
    if conflicting_names:
        raise errors.conflict(
            "Child teams have the same names as other teams under the parent. Rename them first.",
            names=conflicting_names,
        )
    payload = {
        "team_id": team_id,
        "name": team.name,
        "parent_id": team.parent_id,
        "deleted_by": deleted_by,
    }
    db.session().expunge(team)
    tree.remove(team_id, team.parent_id)
    events.emit("team.deleted", payload)


def lock(team_id: UUID, revision: int | None) -> Team:
    """Return a team, locked until the transaction ends.

    Raises 404, or 409 if `revision` is given and is not the current one.
    """
    team = reading.lock(team_id)
    if team is None:
        raise errors.not_found()
    if revision is not None and revision != team.revision:
        raise errors.stale(team.revision)
    return team


def check_lead(user_id: UUID | None) -> None:
    """Raise 400 on `lead_id` unless the user is a member of the organization.

    Call this before locking the team: when a user leaves the organization, the membership is locked
    first and the teams after it.
    """
    if user_id is not None and not members.lock_memberships([user_id]):
        raise errors.invalid("Must be a member of the organization.", "lead_id")


def _check_move(team_id: UUID, parent_id: UUID) -> None:
    _check_parent(parent_id, "parent_id", height=tree.get_height(team_id), moving=team_id)


def _check_parent(parent_id: UUID, field: str, *, height: int, moving: UUID | None = None) -> None:
    ancestors = tree.list_ancestors(parent_id)
    if not ancestors:
        raise errors.invalid("There is no such team.", field)
    if moving in ancestors:
        raise errors.invalid("A team cannot be moved under itself or its descendants.", field)
    if len(ancestors) + height > MAX_DEPTH:
        raise errors.invalid(f"The tree has at most {MAX_DEPTH} levels.", field)


def _set_skills(team: Team, skills: list[str]) -> None:
    skills_by_key = normalization.deduplicate_skills(skills)
    if list(skills_by_key.values()) != team.skills:
        team.skills, team.skill_keys = list(skills_by_key.values()), list(skills_by_key)
