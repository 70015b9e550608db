"""internal: what the operator decides of organizations, by the control plane's token."""

from typing import Any

from app.identity.control_plane import service
from app.identity.control_plane.schemas import (
    OperatedOrganization,
    Provision,
    ProvisionedOrganization,
    SetPlan,
    Suspend,
)
from app.kit.api.blueprint import Blueprint

blueprint = Blueprint("internal", description="The operator's own, by the control plane's token.")


@blueprint.post(
    "/internal/organizations",
    access="control-plane",
    limit="control_plane",
    body=Provision,
    returns=ProvisionedOrganization,
    status=201,
)
def provision_organization(caller: None, body: dict[str, Any]) -> Any:
    """Provision an organization with its owner, who is mailed how to get in, and its plan."""
    return service.provision(**body)


@blueprint.put(
    "/internal/organizations/{org_slug}/plan",
    access="control-plane",
    limit="control_plane",
    body=SetPlan,
    returns=OperatedOrganization,
    revision="optional",
)
def set_organization_plan(
    caller: None, org_slug: str, body: dict[str, Any], revision: int | None
) -> Any:
    """Set an organization's plan and the limits that differ from it."""
    return service.set_plan(org_slug, **body, revision=revision)


@blueprint.post(
    "/internal/organizations/{org_slug}/suspend",
    access="control-plane",
    limit="control_plane",
    body=Suspend,
    returns=OperatedOrganization,
)
def suspend_organization(caller: None, org_slug: str, body: dict[str, Any]) -> Any:
    """Suspend an organization: reads go on, writes are refused, and its owners are told why."""
    return service.suspend(org_slug, **body)


@blueprint.post(
    "/internal/organizations/{org_slug}/reinstate",
    access="control-plane",
    limit="control_plane",
    returns=OperatedOrganization,
)
def reinstate_organization(caller: None, org_slug: str) -> Any:
    """Lift a suspension."""
    return service.reinstate(org_slug)
