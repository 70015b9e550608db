"""Service that lists, updates and removes members; an organization always keeps an owner."""

from collections.abc import Mapping
from typing import Any
from uuid import UUID

from sqlalchemy import Row

from app.identity.members import changes, queries
from app.identity.organizations import service as organizations
from app.kit import errors
from app.kit.pagination import Page, PageRequest
from app.kit.permissions import Role, require_role
from app.kit.principal import Caller


def list_members(page: PageRequest, filters: Mapping[str, Any]) -> Page:
    """Return a page of members with their teams, using two statements for a page of any size."""
    return queries.page(page, filters)


def get(user_id: UUID) -> Row[Any]:
    """Return a member with their teams. Raises 404."""
    member = queries.get(user_id)
    if member is None:
        raise errors.not_found()
    return member


def update(caller: Caller, user_id: UUID, *, role: str, revision: int | None) -> Row[Any]:
    """Set the role of a member, and emit `member.role_changed`.

    Raises 404; 403 if members raise their own role or if only an owner may make the change; 409
    `stale_precondition`, or `conflict` if no owner would be left.
    """
    organizations.lock(caller.org.id)
    member = get(user_id)
    held, wanted = Role[member.role], Role[role]
    assert caller.role is not None
    if user_id == caller.user_id and wanted > held:
        raise errors.denied("You cannot raise your own role.")
    _check_reach(caller.role, max(held, wanted))
    if revision not in (None, member.revision):
        raise errors.stale(member.revision)
    if held is wanted:
        return get(user_id)
    if held is Role.owner:
        _check_owner_left(user_id)
    _check_reach(organizations.lock_role(caller), max(held, wanted, Role.admin))
    changes.change_role(user_id, held=held, wanted=wanted, changed_by=caller.user_id)
    return get(user_id)


def remove(caller: Caller, user_id: UUID) -> None:
    """End a membership: admins may remove other members, and any member may leave.

    Emits `member.removed`, whose subscribers release the member's work. Raises 404; 403 if the
    caller lacks the permission; 409 `conflict` if no owner would be left.
    """
    organizations.lock(caller.org.id)
    held = Role[get(user_id).role]
    assert caller.role is not None
    leaving = user_id == caller.user_id and caller.api_key_id is None
    if not leaving:
        require_role(caller.role, Role.admin)
        _check_reach(caller.role, held)
    if held is Role.owner:
        _check_owner_left(user_id)
    if not leaving:
        _check_reach(organizations.lock_role(caller), max(held, Role.admin))
    changes.end_membership(user_id, role=held, removed_by=caller.user_id)


def transfer(caller: Caller, *, user_id: UUID) -> Row[Any]:
    """Make another member an owner and the caller an admin, and return the new owner.

    Emits `member.role_changed` for both. Raises 400 if the user is not another member, or if their
    account is disabled, because the organization would have no owner who can sign in.
    """
    organizations.lock(caller.org.id)
    role = queries.role_of(user_id)
    if role is None or user_id == caller.user_id:
        raise errors.invalid("Must be another member of the organization.", "user_id")
    require_role(organizations.lock_role(caller), Role.owner)
    if queries.is_disabled(user_id):
        raise errors.invalid("The account of this member is disabled.", "user_id")
    if Role[role] is not Role.owner:
        changes.change_role(user_id, held=Role[role], wanted=Role.owner, changed_by=caller.user_id)
    changes.change_role(
        caller.user_id, held=Role.owner, wanted=Role.admin, changed_by=caller.user_id
    )
    return get(user_id)


def _check_reach(role: Role, concerned: Role) -> None:
    """Raise 403 unless `role` is at least `concerned`, so that only owners can change owners."""
    require_role(role, concerned)


def _check_owner_left(user_id: UUID) -> None:
    if not queries.other_owners(user_id):
        raise errors.conflict(
            "An organization needs at least one owner. Transfer ownership first, or close the"
            " organization.",
            owners=1,
        )
