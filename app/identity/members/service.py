"""Service that changes roles and removes members; every organization keeps at least one owner."""

from uuid import UUID

from app.identity.auth import queries as session_queries
from app.identity.invitations import queries as invitation_queries
from app.identity.invitations import service as invitations
from app.identity.members import queries
from app.identity.members.queries import MemberDetails
from app.identity.organizations import emitted_events
from app.identity.organizations import queries as organization_queries
from app.identity.organizations import service as organizations
from app.kit import errors, events, tenancy
from app.kit.permissions import Role, require_role
from app.kit.principal import Caller


def get(user_id: UUID) -> MemberDetails:
    """Return a member with their teams. Raises 404 if the user is not a member."""
    return errors.require_found(queries.get(user_id))


def update(caller: Caller, user_id: UUID, *, role: str, revision: int | None) -> MemberDetails:
    """Update a member's role, and emit `member.role_changed` if the role changes.

    Raises 404 for a non-member, 403 if the caller would get a higher role or may not make this
    change, 409 `stale_precondition`, and 409 `conflict` if no enabled owner would remain.
    """
    organization_queries.lock(caller.org.id)
    member = get(user_id)
    old_role, new_role = Role[member.role], Role[role]
    assert caller.role is not None
    if user_id == caller.user_id and new_role > old_role:
        raise errors.denied(
            "You cannot give yourself a higher role. Ask a member with a higher role."
        )
    # Only owners can change the role of an owner or make somebody an owner.
    require_role(caller.role, max(old_role, new_role))
    errors.check_revision(revision, member.revision)
    if old_role is new_role:
        return get(user_id)
    if old_role is Role.owner:
        _check_other_owner(user_id)
    require_role(organizations.lock_role(caller), max(old_role, new_role, Role.admin))
    change_role(user_id, old_role=old_role, role=new_role, changed_by=caller.user_id)
    return get(user_id)


def remove(caller: Caller, user_id: UUID, *, revision: int | None) -> None:
    """Remove a member. Admins may remove other members, and every member may leave.

    Emits `member.removed`; subscribers release the member's work. Raises 404 for a non-member, 403
    if the caller may not remove this member, 409 `stale_precondition`, and 409 `conflict` if no
    enabled owner would remain.
    """
    organization_queries.lock(caller.org.id)
    member = get(user_id)
    role = Role[member.role]
    assert caller.role is not None
    is_leaving = user_id == caller.user_id and caller.api_key_id is None
    if not is_leaving:
        require_role(caller.role, Role.admin)
        require_role(caller.role, role)
    errors.check_revision(revision, member.revision)
    if role is Role.owner:
        _check_other_owner(user_id)
    if not is_leaving:
        require_role(organizations.lock_role(caller), max(role, Role.admin))
    end_membership(user_id, role=role, removed_by=caller.user_id)


def transfer_ownership(caller: Caller, *, user_id: UUID, revision: int | None) -> MemberDetails:
    """Transfer ownership: make another member an owner and the caller an admin.

    Returns the new owner. Emits `member.role_changed` for each user whose role changes. Raises 400
    if `user_id` is not another member, or if the member's account is disabled: the organization
    might then have no owner who can sign in. Raises 403 if the caller is no longer an owner, and
    409 `stale_precondition` if `revision` is not the revision of the other member.
    """
    organization_queries.lock(caller.org.id)
    role = organization_queries.get_role(user_id)
    if role is None or user_id == caller.user_id:
        raise errors.invalid("Must be another member of the organization.", "user_id")
    require_role(organizations.lock_role(caller), Role.owner)
    if queries.lock_and_check_disabled(user_id):
        raise errors.invalid("This member's account is disabled.", "user_id")
    errors.check_revision(revision, get(user_id).revision)
    if Role[role] is not Role.owner:
        change_role(user_id, old_role=Role[role], role=Role.owner, changed_by=caller.user_id)
    change_role(caller.user_id, old_role=Role.owner, role=Role.admin, changed_by=caller.user_id)
    return get(user_id)


def _check_other_owner(user_id: UUID) -> None:
    if not queries.lock_and_count_other_owners(user_id):
        raise errors.conflict(
            "An organization needs at least one owner. Transfer ownership first, or close the"
            " organization.",
            owners=1,
        )


def change_role(user_id: UUID, *, old_role: Role, role: Role, changed_by: UUID | None) -> None:
    """Change a member's role in the current organization, and emit `member.role_changed`.

    The caller checks the permissions. Revokes the pending invitations that the member sent but may
    not send with the new role. Revokes the single sign-on sessions of a new owner, because the
    owner has not yet confirmed the identity provider that an administrator chose.
    """
    queries.set_role(user_id, role.name)
    if role < old_role:
        invitations.revoke_by_inviter(user_id, role=role)
    if role is Role.owner:
        session_queries.revoke_sso_sessions(user_id, tenancy.current_organization_id())
    payload: emitted_events.MemberRoleChangedPayload = {
        "user_id": user_id,
        "from": old_role.name,
        "to": role.name,
        "changed_by": changed_by,
    }
    events.emit(emitted_events.MEMBER_ROLE_CHANGED, payload)


def end_membership(user_id: UUID, *, role: Role, removed_by: UUID | None) -> None:
    """End a membership in the current organization, and emit `member.removed`.

    The caller checks the permissions. `removed_by` is None if the single sign-on policy ends the
    membership; single sign-on may then admit the user again. Otherwise, the user can only return
    with a new invitation, regardless of how they sign in, so the pending invitation to their
    address is revoked. The pending invitations that the user sent are revoked in both cases.
    """
    if removed_by is not None:
        # Invitations are locked before the membership, in the same order as when an invitation is
        # accepted.
        invitation_queries.revoke_by_invitee(user_id)
        organization_queries.record_removed_member(user_id)
    team_ids = queries.lock_and_list_team_ids(user_id)
    # Invitations are locked before the teams, in the same order as when an invitation is accepted.
    invitations.revoke_by_inviter(user_id, role=None)
    queries.remove(user_id)
    payload: emitted_events.MemberRemovedPayload = {
        "user_id": user_id,
        "role": role.name,
        "removed_by": removed_by,
        "team_ids": team_ids,
    }
    events.emit(emitted_events.MEMBER_REMOVED, payload)
