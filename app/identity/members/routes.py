"""organizations: members and ownership."""

from typing import Any
from uuid import UUID

from app.identity.members import service
from app.identity.members.schemas import Member, MemberFilters, TransferOwnership, UpdateMember
from app.kit.api.blueprint import Blueprint, Listing
from app.kit.principal import Caller

blueprint = Blueprint("members", tag="organizations")


@blueprint.get(
    "/organizations/{org_slug}/members",
    permission="members:read",
    query=Listing(sorts=("name", "joined_at"), filters=MemberFilters),
    returns=Member,
)
def list_members(caller: Caller, query: dict[str, Any]) -> Any:
    """List the members with their roles and teams."""
    return service.list_members(query.pop("page"), query)


@blueprint.patch(
    "/organizations/{org_slug}/members/{user_id}",
    permission="members:update",
    body=UpdateMember,
    returns=Member,
    revision="optional",
    # A key that leaks must raise nobody.
    keys=False,
)
def update_member(caller: Caller, user_id: UUID, body: dict[str, Any], revision: int | None) -> Any:
    """Change a member's role. Only an owner makes owners, and nobody raises themselves."""
    return service.update(caller, user_id, revision=revision, **body)


@blueprint.delete("/organizations/{org_slug}/members/{user_id}", permission="members:remove")
def remove_member(caller: Caller, user_id: UUID) -> None:
    """Remove a member, as an admin, or leave, as oneself; the last owner cannot."""
    service.remove(caller, user_id)


@blueprint.post(
    "/organizations/{org_slug}/transfer-ownership",
    permission="organizations:transfer",
    body=TransferOwnership,
    returns=Member,
    keys=False,
)
def transfer_ownership(caller: Caller, body: dict[str, Any]) -> Any:
    """Hand ownership to another member; the caller stays as an admin."""
    return service.transfer(caller, **body)
