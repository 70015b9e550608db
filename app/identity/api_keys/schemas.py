"""Request and response schemas for API keys."""

from app.identity.users.schemas import UserSummary
from app.kit.api.fields import (
    Bool,
    Name,
    Nested,
    OneOf,
    Response,
    Schema,
    ShownOnce,
    Str,
    UtcDateTime,
    Uuid,
)
from app.kit.permissions import Role


class ApiKeyCreator(UserSummary):
    """The user who created an API key; the key acts on this user's behalf."""

    is_member = Bool(
        description="False if the user has left the organization. The key continues to work."
    )


class CreateApiKey(Schema):
    """Request body to create an API key."""

    name = Name(required=True)
    role = Str(
        required=True,
        validate=OneOf(Role.__members__),
        description="The role must not be `owner`, and must not be above the creator's role.",
    )
    read_only = Bool(
        load_default=False, description="Whether the key may only call GET operations."
    )
    expires_at = UtcDateTime(
        load_default=None, allow_none=True, description="If absent or null, the key never expires."
    )


class ApiKey(Response):
    """An API key without its secret."""

    id = Uuid()
    name = Str()
    role = Str(validate=OneOf(Role.__members__))
    read_only = Bool()
    prefix = Str(description="The first characters of the key.")
    expires_at = UtcDateTime(allow_none=True)
    last_used_at = UtcDateTime(
        allow_none=True, description="When the key was last used, accurate to one minute."
    )
    created_by = Nested(ApiKeyCreator)
    created_at = UtcDateTime()
    updated_at = UtcDateTime()


class ApiKeyWithSecret(ApiKey):
    """A new API key; `key` is returned only once."""

    key = ShownOnce("The complete key.")
