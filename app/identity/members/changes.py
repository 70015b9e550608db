"""Changing a role and ending a membership, with everything that follows from either.

Whoever calls has decided that it may be done: `members.service` for people and API keys, single
sign-on for its policy.
"""

from uuid import UUID

from app.identity.auth import sessions
from app.identity.invitations import service as invitations
from app.identity.members import queries
from app.identity.organizations import service as organizations
from app.kit import events, tenancy
from app.kit.permissions import Role


def change_role(user_id: UUID, *, held: Role, wanted: Role, changed_by: UUID | None) -> None:
    """Give a member of the bound organization another role. Emits `member.role_changed`.

    Revokes the open invitations that they may not send any more. Whoever becomes an owner loses the
    sessions that single sign-on opened: an administrator chooses the provider, and the owner has
    not confirmed it yet.
    """
    queries.set_role(user_id, wanted.name)
    if wanted < held:
        invitations.end_by_inviter(user_id, role=wanted)
    if wanted is Role.owner:
        sessions.end_single_sign_on(user_id, tenancy.current_organization_id())
    payload = {"from": held.name, "to": wanted.name, "changed_by": changed_by}
    events.emit("member.role_changed", {"user_id": user_id, **payload})


def end_membership(user_id: UUID, *, role: Role, removed_by: UUID | None) -> None:
    """End a membership of the bound organization. Emits `member.removed`.

    `removed_by` is None where single sign-on's policy ends it: then sign-on may let the person in
    again. Whoever leaves or is removed by a person needs an invitation, whatever identity they
    come with: a new one, so an open one to their address is revoked, like those that they sent.
    """
    if removed_by is not None:
        # Before the membership, as whoever accepts an invitation locks the two in this order.
        invitations.end_by_address(user_id)
        organizations.remember_removal(user_id)
    team_ids = queries.remove(user_id)
    invitations.end_by_inviter(user_id, role=None)
    payload = {"role": role.name, "removed_by": removed_by}
    events.emit("member.removed", {"user_id": user_id, **payload, "team_ids": team_ids})
