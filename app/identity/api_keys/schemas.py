"""Request and response schemas of API keys."""

from app.identity.users.schemas import UserSummary
from app.kit.api.fields import Bool, Name, Nested, OneOf, Schema, ShownOnce, Str, UtcDateTime, Uuid
from app.kit.permissions import Role


class ApiKeyCreator(UserSummary):
    """The user who created a key, and on whose behalf it acts."""

    is_member = Bool(
        required=True,
        metadata={
            "description": "False after the user has left the organization; the key keeps working."
        },
    )


class CreateApiKey(Schema):
    """Request body to create an API key."""

    name = Name(required=True)
    role = Str(
        required=True,
        validate=OneOf([role.name for role in Role]),
        metadata={"description": "Below `owner`, and not above the creator's role."},
    )
    read_only = Bool(
        load_default=False,
        metadata={"description": "Whether the key may only call GET operations."},
    )
    expires_at = UtcDateTime(
        load_default=None,
        allow_none=True,
        metadata={"description": "Absent or null if the key never expires."},
    )


class ApiKey(Schema):
    """An API key without its secret."""

    id = Uuid(required=True)
    name = Str(required=True)
    role = Str(required=True, validate=OneOf([role.name for role in Role]))
    read_only = Bool(required=True)
    prefix = Str(required=True, metadata={"description": "The first characters of the key."})
    expires_at = UtcDateTime(required=True, allow_none=True)
    last_used_at = UtcDateTime(
        required=True, allow_none=True, metadata={"description": "Accurate to one minute."}
    )
    created_by = Nested(ApiKeyCreator, required=True)
    created_at = UtcDateTime(required=True)
    updated_at = UtcDateTime(required=True)


class ApiKeyWithSecret(ApiKey):
    """A new API key; `key` is returned only once."""

    key = ShownOnce("The complete key.")


class ApiKeyFilters(Schema):
    """Query parameters that filter a list of API keys."""

    created_after = UtcDateTime()
    created_before = UtcDateTime()
