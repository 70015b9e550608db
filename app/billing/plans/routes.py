"""Routes for plans."""

from typing import Any

from app.billing.plans import service
from app.billing.plans.schemas import AvailablePlan
from app.kit.api.blueprint import Blueprint, Listing
from app.kit.pagination import Page
from app.kit.principal import Caller

blueprint = Blueprint("billing", description="Plans, their limits, and usage.")


@blueprint.get(
    "/billing/plans",
    access="user",
    allows_api_keys=True,
    query=Listing(sort_keys=("rank", "name")),
    returns=AvailablePlan,
)
def list_plans(caller: Caller, query: dict[str, Any]) -> Page:
    """List available plans.

    Returns the limits and prices of each plan. The operator can also assign other plans.
    """
    return service.list_plans(**query)
