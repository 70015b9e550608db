"""API routes for members and ownership transfer."""

from typing import Any
from uuid import UUID

from app.identity.members import queries, service
from app.identity.members.queries import MemberDetails
from app.identity.members.schemas import Member, MemberFilters, TransferOwnership, UpdateMember
from app.kit.api.blueprint import Blueprint, Listing
from app.kit.pagination import Page
from app.kit.principal import Caller

blueprint = Blueprint("members", tag="organizations")


@blueprint.get(
    "/organizations/{org_slug}/members",
    permission="members:read",
    query=Listing(sort_keys=("name", "joined_at"), filters=MemberFilters),
    returns=Member,
)
def list_members(caller: Caller, query: dict[str, Any]) -> Page:
    """List members.

    Returns the members of the organization with their roles and teams.
    """
    return queries.get_page(query.pop("page"), query)


@blueprint.patch(
    "/organizations/{org_slug}/members/{user_id}",
    permission="members:update",
    body=UpdateMember,
    returns=Member,
    revision="optional",
    # A leaked key must not be able to give somebody a higher role.
    allows_api_keys=False,
)
def update_member(
    caller: Caller, user_id: UUID, body: dict[str, Any], revision: int | None
) -> MemberDetails:
    """Update a member's role.

    Only an owner can change the role of an owner or make somebody an owner. Members cannot give
    themselves a higher role. Emits `member.role_changed`.
    """
    return service.update(caller, user_id, revision=revision, **body)


@blueprint.delete(
    "/organizations/{org_slug}/members/{user_id}", permission="members:remove", revision="optional"
)
def remove_member(caller: Caller, user_id: UUID, revision: int | None) -> None:
    """Remove a member.

    An admin can remove other members, and every member can leave. Only an owner can remove another
    owner, and the last owner cannot be removed. Emits `member.removed`, and releases the member's
    work.
    """
    service.remove(caller, user_id, revision=revision)


@blueprint.post(
    "/organizations/{org_slug}/transfer-ownership",
    permission="organizations:transfer",
    body=TransferOwnership,
    returns=Member,
    revision="optional",
    allows_api_keys=False,
)
def transfer_ownership(caller: Caller, body: dict[str, Any], revision: int | None) -> MemberDetails:
    """Transfer ownership.

    Makes another member an owner. The caller becomes an admin. `revision` is the revision of the
    other member. Emits `member.role_changed` for each change.
    """
    return service.transfer_ownership(caller, revision=revision, **body)
