"""organizations: the tenants and their members."""

from typing import Any

from app.identity.organizations import service
from app.identity.organizations.schemas import Organization
from app.kit.api.blueprint import Blueprint, Listing
from app.kit.principal import Caller

blueprint = Blueprint("organizations", description="Organizations, the unit of tenancy.")


@blueprint.get(
    "/organizations",
    access="user",
    keys=True,
    query=Listing(sorts=("name", "created_at")),
    returns=Organization,
)
def list_organizations(caller: Caller, query: dict[str, Any]) -> Any:
    """List the organizations that the caller belongs to, with the caller's role in each."""
    return service.list_of_caller(caller, query["page"])
