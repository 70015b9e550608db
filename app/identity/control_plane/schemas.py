"""Bodies and answers of the control plane."""

from typing import Any

from app.identity.control_plane.service import LIMITS
from app.kit.api.fields import (
    Bool,
    Int,
    JsonObject,
    Name,
    Nested,
    OneOf,
    Schema,
    Str,
    UtcDateTime,
    Uuid,
)
from app.kit.settings import PLANS

_MOST = 2**53 - 1  # what every JSON reader holds exactly
_limits: dict[str, Any] = {
    name: Int(allow_none=True, maximum=_MOST, metadata={"description": meaning})
    for name, meaning in LIMITS.items()
}
PlanLimits = type("PlanLimits", (Schema,), {"__doc__": "What differs from the plan.", **_limits})


class NewOrganization(Schema):
    """What the organization is called; without a slug one is made of the name."""

    name = Name(required=True)
    slug = Str(max_length=63)


class NewOwner(Schema):
    """Whose it is; without an account of this address one is made."""

    email = Str(required=True, max_length=320)
    name = Name(required=True)


class Provision(Schema):
    """A new organization, its owner and its plan."""

    organization = Nested(NewOrganization, required=True)
    owner = Nested(NewOwner, required=True)
    plan = Str(validate=OneOf(PLANS))


class SetPlan(Schema):
    """A plan, and its limits that are different here; null is without limit."""

    plan = Str(required=True, validate=OneOf(PLANS))
    limits = Nested(PlanLimits, load_default=dict)
    revision = Int()


class Suspend(Schema):
    """Why; the owners read it."""

    reason = Name(required=True, max_length=500)


class Owner(Schema):
    """The owner of a provisioned organization."""

    id = Uuid(required=True)
    email = Str(required=True)
    name = Str(required=True)
    created = Bool(required=True, metadata={"description": "Whether the account is new."})


class OperatedOrganization(Schema):
    """An organization, as the operator sees it."""

    id = Uuid(required=True)
    slug = Str(required=True)
    name = Str(required=True)
    status = Str(required=True, validate=OneOf(("active", "suspended", "closed", "erased")))
    plan = Str(required=True, validate=OneOf(PLANS))
    limits = JsonObject(required=True, metadata={"description": "Differing from the plan."})
    suspended_at = UtcDateTime(required=True, allow_none=True)
    suspension_reason = Str(required=True, allow_none=True)
    created_at = UtcDateTime(required=True)
    updated_at = UtcDateTime(required=True)
    revision = Int(required=True)


class ProvisionedOrganization(OperatedOrganization):
    """A provisioned organization with its owner."""

    owner = Nested(Owner, required=True)
