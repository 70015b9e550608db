"""Bodies and answers of organizations."""

from app.kit.api.fields import Int, JsonObject, Schema, Str, UtcDateTime, Uuid


class OrganizationSummary(Schema):
    """An organization in the login response."""

    slug = Str(required=True)
    name = Str(required=True)
    role = Str(required=True)


class Organization(Schema):
    """An organization, as its members see it."""

    id = Uuid(required=True)
    slug = Str(required=True)
    name = Str(required=True)
    settings = JsonObject(required=True)
    role = Str(required=True)
    plan = Str(required=True)
    status = Str(required=True)
    created_at = UtcDateTime(required=True)
    updated_at = UtcDateTime(required=True)
    revision = Int(required=True)
