"""Response schemas for plans."""

from typing import Any

from app.billing.plans.catalog import MAX_QUANTITY
from app.kit.api.fields import Int, List, Nested, OneOf, Response, Str
from app.kit.plan_limits import Meter
from app.kit.settings import PLANS

_limits: dict[str, Any] = {
    str(meter): Int(allow_none=True, maximum=MAX_QUANTITY) for meter in Meter
}
EffectivePlanLimits = type(
    "EffectivePlanLimits",
    (Response,),
    {"__doc__": "The limits of a plan by meter; null means no limit.", **_limits},
)


class Money(Response):
    """An amount as a decimal number in a string, and its currency (ISO 4217)."""

    amount = Str()
    currency = Str()


class PlanTier(Response):
    """A price tier. `up_to` counts only the units beyond the included quantity."""

    up_to = Int(
        allow_none=True,
        maximum=MAX_QUANTITY,
        description="The last unit to which the tier applies; null means no upper bound.",
    )
    unit_price = Str(
        description="The price per unit, as a decimal number in the currency of the plan."
    )


class PlanCharge(Response):
    """The price for usage of a meter beyond the included quantity."""

    meter = Str(validate=OneOf(tuple(map(str, Meter))))
    included = Int(
        maximum=MAX_QUANTITY,
        description="The quantity included in the plan price, in the meter's unit, such as bytes.",
    )
    unit = Int(
        maximum=MAX_QUANTITY,
        description="The quantity to which a unit price applies, for example 1073741824 bytes.",
    )
    tiers = List(Nested(PlanTier))


class PlanVersion(Response):
    """A version of a plan, with its price, limits and charges."""

    name = Str(validate=OneOf(PLANS))
    version = Int()
    price = Nested(Money, description="The price of the plan per month.")
    limits = Nested(EffectivePlanLimits)
    charges = List(Nested(PlanCharge))


class AvailablePlan(PlanVersion):
    """A plan that organizations can choose. The smallest plan has the lowest rank."""

    rank = Int()
