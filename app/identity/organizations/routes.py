"""Routes of organizations; members and invitations are separate features."""

from typing import Any

from app.identity.organizations import service
from app.identity.organizations.schemas import (
    CloseOrganization,
    CreateOrganization,
    Organization,
    OrganizationFilters,
    UpdateOrganization,
)
from app.kit.api.blueprint import Blueprint, Listing
from app.kit.pagination import Page
from app.kit.permissions import Role
from app.kit.principal import Caller

blueprint = Blueprint("organizations", description="Organizations, which are the tenants.")


@blueprint.get(
    "/organizations",
    access="user",
    keys=True,
    query=Listing(sorts=("name", "created_at"), filters=OrganizationFilters),
    returns=Organization,
)
def list_organizations(caller: Caller, query: dict[str, Any]) -> Page:
    """List organizations.

    Returns the organizations that the caller is a member of, with the caller's role in each. An API
    key sees only its own organization, with the key's role.
    """
    return service.list_for_caller(caller, **query)


@blueprint.post(
    "/organizations",
    access="user",
    limit="create_organization",
    body=CreateOrganization,
    returns=Organization,
    status=201,
)
def create_organization(caller: Caller, body: dict[str, Any]) -> dict[str, Any]:
    """Create an organization.

    The caller becomes its owner. If `slug` is absent, a slug is generated from the name.
    """
    return service.render(service.create(owner_id=caller.user_id, **body), role=Role.owner)


@blueprint.get("/organizations/{org_slug}", permission="organizations:read", returns=Organization)
def get_organization(caller: Caller) -> dict[str, Any]:
    """Get an organization.

    Returns the organization with its settings and the name of its plan.
    """
    return service.get(caller)


@blueprint.patch(
    "/organizations/{org_slug}",
    permission="organizations:update",
    body=UpdateOrganization,
    returns=Organization,
    revision="optional",
)
def update_organization(
    caller: Caller, body: dict[str, Any], revision: int | None
) -> dict[str, Any]:
    """Update an organization.

    Changes the name and the settings. Settings that are left out keep their values.
    """
    return service.update(caller, revision=revision, **body)


@blueprint.post(
    "/organizations/{org_slug}/close",
    permission="organizations:close",
    body=CloseOrganization,
    returns=Organization,
    status=202,
)
def close_organization(caller: Caller, body: dict[str, Any]) -> dict[str, Any]:
    """Close an organization.

    Access ends immediately. The data is erased after the grace period. Emits `organization.closed`.
    """
    return service.close(caller, slug=body["slug"])
