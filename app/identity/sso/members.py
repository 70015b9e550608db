"""Memberships at sign-in: a person's groups determine the role and the teams."""

from collections.abc import Iterable
from typing import Any
from uuid import UUID

from app.identity.invitations import queries as invitation_queries
from app.identity.members import service as members
from app.identity.organizations import queries as organization_queries
from app.identity.organizations import service as organizations
from app.identity.organizations.models import Membership, Organization
from app.identity.sso import queries
from app.identity.sso.models import Configuration, Identity
from app.identity.teams import service as teams
from app.identity.users import queries as user_queries
from app.identity.users.models import User
from app.kit import db, errors
from app.kit.permissions import Role


def find_matching_entries(
    configuration: Configuration, groups: Iterable[str]
) -> list[dict[str, Any]]:
    """Return the entries of the group mapping that match any of a person's groups."""
    group_names = set(groups)
    return [entry for entry in configuration.group_mapping if entry["group"] in group_names]


def choose_role(configuration: Configuration, groups: Iterable[str]) -> str:
    """Return the highest role that a person's groups map to, or the default role."""
    roles = [Role[e["role"]] for e in find_matching_entries(configuration, groups) if e["role"]]
    return max(roles).name if roles else configuration.default_role


def sync_membership(
    organization: Organization,
    configuration: Configuration,
    user: User,
    groups: tuple[str, ...] | None,
    identity: Identity,
) -> None:
    """Create, update or end a person's membership and team memberships according to their groups.

    The memberships of an owner do not change. If the mapping contains roles, the groups determine
    the role at each sign-in.

    Raises 403 `permission_denied` if the person's groups give no access; in this case, an existing
    membership and all sessions of the user are ended, and the transaction is committed. Also raises
    403 if `groups` is None and there is a mapping, for a former member who was removed or left and
    has no new invitation, and for a new person while the organization is suspended. Raises 402
    `plan_limit_reached` if the plan does not allow another member.
    """
    membership = queries.lock_membership(user.id)
    if membership is not None and membership.role == Role.owner.name:
        return
    groups = _require_groups(configuration, groups)
    if configuration.require_group and not find_matching_entries(configuration, groups):
        if membership is not None:
            _end_membership(membership, user, identity)
            # Commit the end of the membership, even though the sign-in is refused.
            db.checkpoint()
        raise errors.denied(
            "None of your groups at the identity provider gives access to this organization."
        )
    role = choose_role(configuration, groups)
    if membership is None:
        if organization.status == "suspended":
            raise errors.denied("The organization is suspended. Nobody can join it now.")
        _join(configuration, user, role, identity)
    elif membership.role != role and _has_role_mapping(configuration):
        current_role = Role[membership.role]
        members.change_role(user.id, old_role=current_role, role=Role[role], changed_by=None)
    _sync_teams(configuration, user.id, groups)


def _require_groups(
    configuration: Configuration, groups: tuple[str, ...] | None
) -> tuple[str, ...]:
    """Return the groups, or an empty tuple if they are unknown and no groups are mapped.

    Raises 403 if the groups are unknown and the organization maps groups: the person must not lose
    a role or a membership because the provider omitted the groups.
    """
    if groups is None and configuration.group_mapping:
        raise errors.denied(
            "The identity provider did not send your groups, usually because you are in too many."
            " Ask its administrator to limit which groups it sends to this service."
        )
    return groups or ()


def _join(configuration: Configuration, user: User, role: str, identity: Identity) -> None:
    """Create the membership, and accept an open invitation if the user's address is verified.

    If the mapping contains no roles, the invitation determines the role.
    """
    invitation = None
    # An address that nobody has verified may belong to another person, who was invited.
    if user.email_verified_at is not None:
        invitation = invitation_queries.accept_by_address(user.email)
    if invitation is None and organization_queries.is_removed_member(user.id):
        raise errors.denied(
            "You were removed from this organization or left it. Ask for an invitation, and accept"
            " it with the emailed link."
        )
    identity.dropped_at = None
    if invitation is not None and not _has_role_mapping(configuration):
        role = invitation.role
    organizations.join(user.id, role=role, invitation_id=invitation.id if invitation else None)
    if invitation is not None:
        teams.join(user.id, map(UUID, invitation.team_ids))


def _has_role_mapping(configuration: Configuration) -> bool:
    return any(entry["role"] for entry in configuration.group_mapping)


def _end_membership(membership: Membership, user: User, identity: Identity) -> None:
    identity.dropped_at = db.utc_now()
    members.end_membership(user.id, role=Role[membership.role], removed_by=None)
    user_queries.update_account(user, token_version=User.token_version + 1)
    db.session().flush()


def _sync_teams(configuration: Configuration, user_id: UUID, groups: tuple[str, ...]) -> None:
    """Add the user to the teams that their groups map to, and remove them from other mapped teams.

    Teams that are not in the mapping do not change.
    """
    mapped_team_ids = {UUID(e["team_id"]) for e in configuration.group_mapping if e["team_id"]}
    if not mapped_team_ids:
        return
    target_team_ids = {
        UUID(e["team_id"]) for e in find_matching_entries(configuration, groups) if e["team_id"]
    }
    current_team_ids = set(teams.list_team_ids(user_id))
    teams.join(user_id, target_team_ids - current_team_ids)
    for team_id in sorted((mapped_team_ids - target_team_ids) & current_team_ids):
        teams.remove_member(team_id, user_id)
