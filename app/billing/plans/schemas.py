"""Response schemas of plans."""

from typing import Any

from app.billing.plans.catalogue import MAX_QUANTITY
from app.kit.api.fields import Int, List, Nested, OneOf, Response, Str
from app.kit.plan_limits import Meter
from app.kit.settings import PLANS

_limits: dict[str, Any] = {
    str(meter): Int(allow_none=True, maximum=MAX_QUANTITY) for meter in Meter
}
PlanLimits = type(
    "EffectivePlanLimits",
    (Response,),
    {"__doc__": "The limits of a plan by meter; null means no limit.", **_limits},
)


class Money(Response):
    """An amount as a decimal number in a string, and its currency (ISO 4217)."""

    amount = Str()
    currency = Str()


class PlanTier(Response):
    """The price of each unit up to `up_to` units, which are counted after the included quantity."""

    up_to = Int(
        allow_none=True,
        maximum=MAX_QUANTITY,
        description="The last unit of the tier; null means no upper bound.",
    )
    unit_price = Str(description="A decimal number in the currency of the plan's price.")


class PlanCharge(Response):
    """The price of usage of a meter beyond the included quantity."""

    meter = Str(validate=OneOf(tuple(map(str, Meter))))
    included = Int(
        maximum=MAX_QUANTITY,
        description="The included quantity, in the measure of the meter, such as bytes.",
    )
    unit = Int(
        maximum=MAX_QUANTITY,
        description="The quantity to which the price of a tier applies, such as 1073741824 bytes.",
    )
    tiers = List(Nested(PlanTier))


class PlanVersion(Response):
    """A version of a plan."""

    name = Str(validate=OneOf(PLANS))
    version = Int()
    price = Nested(Money, description="The price per month.")
    limits = Nested(PlanLimits)
    charges = List(Nested(PlanCharge))


class AvailablePlan(PlanVersion):
    """An available plan. The smallest plan has the lowest rank."""

    rank = Int()
