"""API routes that the operator uses to manage organizations.

Requests are authenticated by the control plane's token.
"""

from typing import Any

from app.identity.control_plane import service
from app.identity.control_plane.schemas import (
    ManagedOrganization,
    ProvisionedOrganization,
    ProvisionOrganization,
    SetPlan,
    SuspendOrganization,
)
from app.kit.api.blueprint import Blueprint

blueprint = Blueprint(
    "internal", description="Operations for the operator, which require the control plane's token."
)


@blueprint.post(
    "/internal/organizations",
    access="control-plane",
    limit="control_plane",
    body=ProvisionOrganization,
    returns=ProvisionedOrganization,
    status=201,
)
def provision_organization(caller: None, body: dict[str, Any]) -> object:
    """Provision an organization.

    Creates an organization with an owner and a plan, and sends the owner an email with instructions
    to sign in. If the owner has no account, or the address of the owner's account is not verified,
    the email has a link to choose a password. An account with an unverified address loses its
    password, sessions and links, because somebody else may have registered the address.
    """
    return service.provision(**body)


@blueprint.put(
    "/internal/organizations/{org_slug}/plan",
    access="control-plane",
    limit="control_plane",
    body=SetPlan,
    returns=ManagedOrganization,
    revision="optional",
)
def set_organization_plan(
    caller: None, org_slug: str, body: dict[str, Any], revision: int | None
) -> object:
    """Set an organization's plan.

    Replaces the plan and the limits that differ from the plan. If anything changes, cancels the
    scheduled plan change and emits `organization.plan_changed`.
    """
    return service.set_plan(org_slug, **body, revision=revision)


@blueprint.post(
    "/internal/organizations/{org_slug}/suspend",
    access="control-plane",
    limit="control_plane",
    body=SuspendOrganization,
    returns=ManagedOrganization,
    revision="optional",
)
def suspend_organization(
    caller: None, org_slug: str, body: dict[str, Any], revision: int | None
) -> object:
    """Suspend an organization.

    Members can still read, but writes are refused. Emails the reason to the owners, and emits
    `organization.suspended`.
    """
    return service.suspend(org_slug, **body, revision=revision)


@blueprint.post(
    "/internal/organizations/{org_slug}/reinstate",
    access="control-plane",
    limit="control_plane",
    returns=ManagedOrganization,
    revision="optional",
)
def reinstate_organization(caller: None, org_slug: str, revision: int | None) -> object:
    """Reinstate an organization.

    Ends a suspension, emails the owners, and emits `organization.reinstated`. Does nothing if the
    organization is not suspended.
    """
    return service.reinstate(org_slug, revision=revision)
