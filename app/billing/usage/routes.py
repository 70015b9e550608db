"""Routes for usage."""

from typing import Any

from app.billing.usage.schemas import Usage, UsageHistory, UsageHistoryQuery
from app.billing.usage.service import reporting
from app.kit.api.blueprint import Blueprint
from app.kit.principal import Caller

blueprint = Blueprint("billing_usage", tag="billing")


@blueprint.get("/billing/usage", permission="billing:read", returns=Usage)
def get_usage(caller: Caller) -> dict[str, Any]:
    """Get the usage of the current month.

    Returns the usage of each meter, its limit, and a warning if the usage is at least 80% of the
    limit. A deleted document still counts in the month in which it was created.
    """
    return reporting.describe_usage()


@blueprint.get(
    "/billing/usage/history",
    permission="billing:read",
    query=UsageHistoryQuery,
    returns=UsageHistory,
)
def get_usage_history(caller: Caller, query: dict[str, Any]) -> dict[str, Any]:
    """Get the usage by day.

    Returns the usage of each meter, or of one meter, on each day of a period. The default period is
    the last 30 days.
    """
    return reporting.describe_history(**query)
