"""Routes of plans."""

from typing import Any

from app.billing.plans import service
from app.billing.plans.schemas import AvailablePlan
from app.kit.api.blueprint import Blueprint, Listing
from app.kit.pagination import Page
from app.kit.principal import Caller

blueprint = Blueprint("billing", description="Plans, their limits, and what is used of them.")


@blueprint.get(
    "/billing/plans",
    access="user",
    keys=True,
    query=Listing(sorts=("rank", "name")),
    returns=AvailablePlan,
)
def list_plans(caller: Caller, query: dict[str, Any]) -> Page:
    """List plans that can be chosen.

    Returns the limits and prices of each plan. The operator may assign other plans as well.
    """
    return service.list_plans(**query)
