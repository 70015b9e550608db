"""API routes that list, create, update and close organizations."""

from typing import Any

from app.identity.organizations import service, session_scope
from app.identity.organizations.schemas import (
    CloseOrganization,
    CreateOrganization,
    Organization,
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
    allows_api_keys=True,
    query=Listing(sort_keys=("name", "created_at"), has_period=True),
    returns=Organization,
)
def list_organizations(caller: Caller, query: dict[str, Any]) -> Page:
    """List organizations.

    Returns the organizations that the caller is a member of, with the caller's role in each
    organization. For an API key, returns only the key's organization, with the key's role. For a
    session that is limited to one organization, returns only that organization.
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
def create_organization(caller: Caller, body: dict[str, Any]) -> object:
    """Create an organization.

    The caller becomes the organization's owner. If `slug` is absent, a slug is generated from the
    name. Responds with 403 `permission_denied` to a session that is limited to one organization.
    """
    session_scope.check_organization_creation(caller)
    return service.render(service.create(owner_id=caller.user_id, **body), role=Role.owner)


@blueprint.get("/organizations/{org_slug}", permission="organizations:read", returns=Organization)
def get_organization(caller: Caller) -> object:
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
def update_organization(caller: Caller, body: dict[str, Any], revision: int | None) -> object:
    """Update an organization.

    Changes the name and the settings. Omitted settings keep their values.
    """
    return service.update(caller, revision=revision, **body)


@blueprint.post(
    "/organizations/{org_slug}/close",
    permission="organizations:close",
    body=CloseOrganization,
    returns=Organization,
    status=202,
    revision="optional",
)
def close_organization(caller: Caller, body: dict[str, Any], revision: int | None) -> object:
    """Close an organization.

    Access ends immediately. The data is erased after the grace period. Emits `organization.closed`.
    """
    return service.close(caller, revision=revision, **body)
