"""Request and response schemas of organizations."""

from app.identity.organizations import slugs
from app.kit.api.fields import (
    Bool,
    Int,
    Name,
    Nested,
    OneOf,
    Schema,
    Str,
    UtcDateTime,
    Uuid,
)
from app.kit.permissions import Role
from app.kit.settings import PLANS

PROVIDERS = ("builtin", "openai_compatible")


class OrganizationFilters(Schema):
    """Query parameters that filter the caller's organizations."""

    created_after = UtcDateTime()
    created_before = UtcDateTime()


class OrganizationSummary(Schema):
    """An organization in the login response."""

    slug = Str(required=True)
    name = Str(required=True)
    role = Str(required=True, validate=OneOf(Role.__members__))


class AiProvider(Schema):
    """The AI provider that reads documents to suggest values."""

    kind = Str(required=True, validate=OneOf(PROVIDERS))
    base_url = Str(required=True, allow_none=True)
    model = Str(required=True, allow_none=True)
    api_key_set = Bool(
        required=True,
        metadata={"description": "Whether a key is set; the key itself is never returned."},
    )


class OrganizationSettings(Schema):
    """An organization's settings."""

    locale = Str(required=True, metadata={"description": "Language tag (BCP 47)."})
    time_zone = Str(required=True, metadata={"description": "IANA time zone."})
    retention_days = Int(
        required=True,
        allow_none=True,
        minimum=1,
        metadata={
            "description": "Days to keep documents, whatever their status; null means forever."
        },
    )
    claim_minutes = Int(
        required=True,
        minimum=1,
        metadata={"description": "Minutes after which a claim expires unless it is renewed."},
    )
    draft_hours = Int(
        required=True,
        minimum=1,
        metadata={
            "description": "Hours after a claim ends for which a begun draft keeps its document."
        },
    )
    allow_self_review = Bool(
        required=True, metadata={"description": "Whether reviewers may review their own tag sets."}
    )
    ai_provider = Nested(AiProvider, required=True)


class Organization(Schema):
    """An organization, as its members see it."""

    id = Uuid(required=True)
    slug = Str(required=True)
    name = Str(required=True)
    settings = Nested(OrganizationSettings, required=True)
    role = Str(
        required=True,
        validate=OneOf(Role.__members__),
        metadata={"description": "The role of the caller."},
    )
    plan = Str(required=True, validate=OneOf(PLANS))
    status = Str(required=True, validate=OneOf(("active", "suspended", "closed")))
    closed_at = UtcDateTime(required=True, allow_none=True)
    erase_after = UtcDateTime(
        required=True,
        allow_none=True,
        metadata={"description": "When a closed organization is erased."},
    )
    created_at = UtcDateTime(required=True)
    updated_at = UtcDateTime(required=True)
    revision = Int(required=True)


class AiProviderInput(Schema):
    """Changes to the AI provider; a `base_url` with another origin deletes the stored key."""

    kind = Str(validate=OneOf(PROVIDERS))
    base_url = Str(allow_none=True, max_length=2000)
    model = Str(allow_none=True, max_length=200)
    api_key = Str(allow_none=True, max_length=1000, metadata={"writeOnly": True})


class SettingsInput(Schema):
    """Changes to the settings; settings that are left out keep their values."""

    locale = Str(max_length=35)
    time_zone = Str(max_length=64)
    retention_days = Int(allow_none=True)
    claim_minutes = Int()
    draft_hours = Int()
    allow_self_review = Bool()
    ai_provider = Nested(AiProviderInput)


class CreateOrganization(Schema):
    """Request body to create an organization; without a slug, one is generated from the name."""

    name = Name(required=True)
    slug = Str(min_length=slugs.MIN_LENGTH, max_length=slugs.MAX_LENGTH)
    settings = Nested(SettingsInput)


class UpdateOrganization(Schema):
    """Request body to update an organization; the slug never changes."""

    name = Name()
    settings = Nested(SettingsInput)
    revision = Int()


class CloseOrganization(Schema):
    """Request body to close an organization: its slug, as a confirmation."""

    slug = Str(required=True, max_length=slugs.MAX_LENGTH)
