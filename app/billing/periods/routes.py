"""internal: closing billing periods."""

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
def close_billing_period(caller: None, body: dict[str, Any]) -> Any:
    """Close a month, so that its invoices are issued; again, it answers the same.

    Refused with 409 `conflict` until this service issues invoices.
    """
    return service.close(**body)
