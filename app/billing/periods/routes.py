"""Routes for billing periods."""

from typing import Any

from app.billing.periods import service
from app.billing.periods.schemas import BillingPeriod, ClosePeriod
from app.kit.api.blueprint import Blueprint

blueprint = Blueprint("billing_periods", tag="internal")


@blueprint.post(
    "/internal/billing/close-period",
    access="control-plane",
    limit="control_plane",
    body=ClosePeriod,
    returns=BillingPeriod,
    status=202,
)
def close_billing_period(caller: None, body: dict[str, Any]) -> dict[str, Any]:
    """Close a billing period.

    Closes a month for all organizations, so that its invoices are issued. If the month is already
    closed, the response is the same as before. Responds with 400 `validation_error` if the month
    has not ended in UTC, and with 409 `conflict` if the month is open and the operator's billing
    file (`BILLING_FILE`) is missing or invalid.
    """
    return service.close(**body)
