"""Routes for the billing profile."""

from typing import Any

from app.billing.profiles import service
from app.billing.profiles.schemas import BillingProfile, SetBillingProfile
from app.kit.api.blueprint import Blueprint
from app.kit.principal import Caller

blueprint = Blueprint("billing_profiles", tag="billing-invoices", record_type="billing_profiles")
_PERMISSION = "billing:manage"


@blueprint.get("/billing/profile", permission=_PERMISSION, returns=BillingProfile)
def get_billing_profile(caller: Caller) -> dict[str, Any]:
    """Get the billing profile.

    Returns the recipient of invoices, and the currency, time zone and language of invoices.
    """
    return service.get()


@blueprint.put(
    "/billing/profile",
    permission=_PERMISSION,
    body=SetBillingProfile,
    returns=BillingProfile,
    revision="optional",
)
def set_billing_profile(
    caller: Caller, body: dict[str, Any], revision: int | None
) -> dict[str, Any]:
    """Set the billing profile.

    Replaces the whole profile. The tax number must be from the country of the address. Issued
    invoices do not change. Draft invoices that were waiting for the profile are issued.
    """
    return service.replace(caller.org.id, revision=revision, **body)
