"""Request and response schemas for organizations."""

from app.identity.organizations import slugs
from app.kit.api import read_only
from app.kit.api.fields import (
    Bool,
    Int,
    Name,
    Nested,
    OneOf,
    Response,
    Schema,
    Str,
    UtcDateTime,
    Uuid,
)
from app.kit.api.read_only import ReadOnly
from app.kit.permissions import Role
from app.kit.settings import PLANS

PROVIDER_KINDS = ("builtin", "openai_compatible")


class OrganizationSummary(Response):
    """An organization of the user, with the user's role in the organization."""

    slug = Str()
    name = Str()
    role = Str(validate=OneOf(Role.__members__))


class AiProvider(Response):
    """The AI provider that creates the predictions for documents."""

    kind = Str(validate=OneOf(PROVIDER_KINDS))
    base_url = Str(allow_none=True)
    model = Str(allow_none=True)
    api_key_set = Bool(
        description="Whether an API key for the provider is stored; the key is never returned."
    )


class OrganizationSettings(Response):
    """An organization's settings; settings that were never set have their defaults."""

    locale = Str(description="Language tag (BCP 47).")
    time_zone = Str(description="IANA time zone.")
    retention_days = Int(
        allow_none=True,
        minimum=1,
        description=(
            "The number of days for which documents are kept, regardless of their status; null"
            " means forever."
        ),
    )
    claim_minutes = Int(
        minimum=1,
        description="The number of minutes after which a claim expires unless it is renewed.",
    )
    draft_hours = Int(
        minimum=1,
        description=(
            "The number of hours for which a draft reserves its document after the claim ends."
        ),
    )
    allow_self_review = Bool(description="Whether reviewers may review their own tag sets.")
    ai_provider = Nested(AiProvider)


class Organization(Response):
    """An organization with its settings and the caller's role."""

    id = Uuid()
    slug = Str()
    name = Str()
    settings = Nested(OrganizationSettings)
    role = Str(validate=OneOf(Role.__members__), description="The role of the caller.")
    plan = Str(validate=OneOf(PLANS))
    status = Str(validate=OneOf(("active", "suspended", "closed")))
    closed_at = UtcDateTime(allow_none=True)
    erase_after = UtcDateTime(
        allow_none=True, description="The time after which a closed organization is erased."
    )
    created_at = UtcDateTime()
    updated_at = UtcDateTime()
    revision = Int()


class AiProviderInput(Schema):
    """Changes to the AI provider.

    If `base_url` changes to another scheme, host or port, the stored key is deleted.
    """

    kind = Str(validate=OneOf(PROVIDER_KINDS))
    base_url = Str(allow_none=True, max_length=2000)
    model = Str(allow_none=True, max_length=200)
    api_key = Str(allow_none=True, max_length=1000, metadata={"writeOnly": True})
    api_key_set = ReadOnly(read_only.BOOLEAN)


class SettingsInput(Schema):
    """Changes to the settings; omitted settings keep their values."""

    locale = Str(max_length=35)
    time_zone = Str(max_length=64)
    retention_days = Int(allow_none=True)
    claim_minutes = Int()
    draft_hours = Int()
    allow_self_review = Bool()
    ai_provider = Nested(AiProviderInput)


class CreateOrganization(Schema):
    """Request body to create an organization; by default, the slug is generated from the name."""

    name = Name(required=True)
    slug = Str(min_length=slugs.MIN_LENGTH, max_length=slugs.MAX_LENGTH)
    settings = Nested(SettingsInput)


class UpdateOrganization(Schema):
    """Request body to update an organization; the slug never changes."""

    name = Name()
    settings = Nested(SettingsInput)
    revision = Int()


class CloseOrganization(Schema):
    """Request body to close an organization; the slug confirms the request."""

    slug = Str(required=True, max_length=slugs.MAX_LENGTH)
    revision = Int()
