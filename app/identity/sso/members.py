"""What a sign-in makes of a membership: default role, roles and teams by group, and its end."""

from collections.abc import Iterable
from typing import Any
from uuid import UUID

from app.identity.invitations import service as invitations
from app.identity.members import changes
from app.identity.organizations import service as organizations
from app.identity.organizations.models import Membership, Organization
from app.identity.sso import queries
from app.identity.sso.models import Configuration, Identity
from app.identity.teams import service as teams
from app.identity.users.models import User
from app.kit import db, errors, events
from app.kit.permissions import Role


class Dropped(Exception):  # noqa: N818 - names what happened
    """The groups give access no more, and the membership was taken away."""


def matching(configuration: Configuration, groups: Iterable[str]) -> list[dict[str, Any]]:
    """The entries of the mapping that the groups match."""
    held = set(groups)
    return [entry for entry in configuration.group_mapping if entry["group"] in held]


def role_of(configuration: Configuration, groups: Iterable[str]) -> str:
    """The highest role that the groups map to, else the default role."""
    roles = [Role[e["role"]] for e in matching(configuration, groups) if e["role"]]
    return max(roles).name if roles else configuration.default_role


def bring_up_to_date(
    organization: Organization,
    configuration: Configuration,
    user: User,
    groups: tuple[str, ...],
    linked: Identity,
) -> None:
    """Make, change or end the membership as the groups say. Owners stay what they are.

    As soon as the mapping names roles, the provider decides on them at each sign-in. Raises
    `Dropped`, and 403 `permission_denied` for somebody who was removed here by hand, and while the
    organization is suspended for somebody new.
    """
    membership = queries.membership(user.id)
    if membership is not None and membership.role == Role.owner.name:
        return
    if configuration.require_group and not matching(configuration, groups):
        _drop(membership, user, linked)
        raise Dropped
    role = role_of(configuration, groups)
    if membership is None:
        if organization.status == "suspended":
            raise errors.denied("The organization is suspended: nobody can join it now.")
        _join(configuration, user, role, linked)
    elif membership.role != role and _names_roles(configuration):
        held = Role[membership.role]
        changes.change_role(user.id, old_role=held, role=Role[role], changed_by=None)
    _sync_teams(configuration, user.id, groups)


def _join(configuration: Configuration, user: User, role: str, linked: Identity) -> None:
    """Make the membership, with what an open invitation gives where the mapping names no roles."""
    invited = invitations.accept_by_address(user.email)
    if invited is None and organizations.was_removed(user.id):
        message = "You were removed from this organization or left it. Ask for an invitation."
        raise errors.denied(message)
    linked.dropped_at = None
    if invited is not None and not _names_roles(configuration):
        role = invited.role
    organizations.join(user.id, role=role)
    if invited is not None:
        teams.join(user.id, [UUID(str(team_id)) for team_id in invited.team_ids])
    told = {"role": role, "invitation_id": invited.id if invited is not None else None}
    events.emit("member.joined", {"user_id": user.id, **told})


def _names_roles(configuration: Configuration) -> bool:
    return any(entry["role"] for entry in configuration.group_mapping)


def _drop(membership: Membership | None, user: User, linked: Identity) -> None:
    linked.dropped_at = db.utc_now()
    if membership is not None:
        changes.end_membership(user.id, role=Role[membership.role], removed_by=None)
        queries.raise_token_version(user.id)
    db.session().flush()


def _sync_teams(configuration: Configuration, user_id: UUID, groups: tuple[str, ...]) -> None:
    """Be in the mapped teams whose groups one has, and in no other of the mapped ones."""
    mapped = {UUID(e["team_id"]) for e in configuration.group_mapping if e["team_id"]}
    if not mapped:
        return
    wanted = {UUID(e["team_id"]) for e in matching(configuration, groups) if e["team_id"]}
    held = {team["id"] for team in teams.list_of_users([user_id]).get(user_id, ())}
    teams.join(user_id, wanted - held)
    for team_id in sorted((mapped - wanted) & held):
        teams.remove_member(team_id, user_id)
