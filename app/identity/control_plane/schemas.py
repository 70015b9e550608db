"""Request and response schemas for the control plane."""

from typing import Any

from app.identity.control_plane.service import LIMITS
from app.identity.users.schemas import UserSummary
from app.kit.api.fields import (
    Bool,
    Int,
    JsonObject,
    Name,
    Nested,
    OneOf,
    Response,
    Schema,
    Str,
    UtcDateTime,
    Uuid,
)
from app.kit.settings import PLANS

_MAX_INTEGER = 2**53 - 1  # the largest integer that every JSON parser represents exactly
_limits: dict[str, Any] = {
    name: Int(allow_none=True, maximum=_MAX_INTEGER, metadata={"description": description})
    for name, description in LIMITS.items()
}
PlanLimits = type(
    "PlanLimits", (Schema,), {"__doc__": "Limits that differ from the plan.", **_limits}
)


class NewOrganization(Schema):
    """The organization to create; if `slug` is absent, a slug is generated from the name."""

    name = Name(required=True)
    slug = Str(max_length=63)


class NewOwner(Schema):
    """The owner of the new organization.

    If the address has no account, an account is created. If the address of an existing account is
    not verified, the account loses its password, sessions and links.
    """

    email = Str(required=True, max_length=320)
    name = Name(required=True)


class ProvisionOrganization(Schema):
    """Request body to provision an organization with an owner and a plan."""

    organization = Nested(NewOrganization, required=True)
    owner = Nested(NewOwner, required=True)
    plan = Str(validate=OneOf(PLANS))


class SetPlan(Schema):
    """Request body to set a plan and the limits that differ from it; null means no limit."""

    plan = Str(required=True, validate=OneOf(PLANS))
    limits = Nested(PlanLimits, load_default=dict)
    revision = Int()


class SuspendOrganization(Schema):
    """Request body to suspend an organization; the reason is emailed to the owners."""

    reason = Name(required=True, max_length=500)
    revision = Int()


class Owner(UserSummary):
    """The owner of a provisioned organization."""

    created = Bool(description="Whether the account was created by this request.")


class ManagedOrganization(Response):
    """An organization with its plan, limits and suspension, for the operator."""

    id = Uuid()
    slug = Str()
    name = Str()
    status = Str(validate=OneOf(("active", "suspended", "closed", "erased")))
    plan = Str(validate=OneOf(PLANS))
    limits = JsonObject(description="Limits that differ from the plan.")
    suspended_at = UtcDateTime(allow_none=True)
    suspension_reason = Str(allow_none=True)
    created_at = UtcDateTime()
    updated_at = UtcDateTime()
    revision = Int()


class ProvisionedOrganization(ManagedOrganization):
    """The organization that was created, with its owner."""

    owner = Nested(Owner)
