"""Functions that change a role or end a membership, with all consequences.

The callers check the permissions first: `members.service` for people and API keys, single sign-on
for its own policy.
"""

from uuid import UUID

from app.identity.auth import sessions
from app.identity.invitations import service as invitations
from app.identity.members import queries
from app.identity.organizations import service as organizations
from app.kit import events, tenancy
from app.kit.permissions import Role


def change_role(user_id: UUID, *, old_role: Role, role: Role, changed_by: UUID | None) -> None:
    """Set the role of a member of the bound organization, and emit `member.role_changed`.

    Revokes the member's open invitations that the new role may not send. A new owner loses the
    sessions opened by single sign-on: an administrator chooses the identity provider, and the owner
    has not confirmed it yet.
    """
    queries.set_role(user_id, role.name)
    if role < old_role:
        invitations.revoke_by_inviter(user_id, role=role)
    if role is Role.owner:
        sessions.end_single_sign_on_sessions(user_id, tenancy.current_organization_id())
    payload = {"from": old_role.name, "to": role.name, "changed_by": changed_by}
    events.emit("member.role_changed", {"user_id": user_id, **payload})


def end_membership(user_id: UUID, *, role: Role, removed_by: UUID | None) -> None:
    """End a membership of the bound organization, and emit `member.removed`.

    `removed_by` is None if the single sign-on policy ends the membership; single sign-on may then
    admit the user again. Otherwise the user needs a new invitation, whatever identity they sign in
    with, so open invitations to their address are revoked. The invitations that the user sent are
    revoked in both cases.
    """
    if removed_by is not None:
        # Invitations are locked before the membership, in the same order as when an invitation is
        # accepted.
        invitations.revoke_by_address(user_id)
        organizations.record_removal(user_id)
    team_ids = queries.remove(user_id)
    invitations.revoke_by_inviter(user_id, role=None)
    payload = {"role": role.name, "removed_by": removed_by}
    events.emit("member.removed", {"user_id": user_id, **payload, "team_ids": team_ids})
