"""Bodies and answers of API keys."""

from app.kit.api.fields import Bool, Name, Nested, OneOf, Schema, ShownOnce, Str, UtcDateTime, Uuid
from app.kit.permissions import Role


class ApiKeyMaker(Schema):
    """Who made a key; what it does is done in their name."""

    id = Uuid(required=True)
    email = Str(required=True)
    name = Str(required=True)
    is_member = Bool(
        required=True,
        metadata={"description": "False once they have left: the key goes on without them."},
    )


class CreateApiKey(Schema):
    """A new key."""

    name = Name(required=True)
    role = Str(
        required=True,
        validate=OneOf([role.name for role in Role]),
        metadata={"description": "Not `owner`, and not above the maker's."},
    )
    read_only = Bool(
        load_default=False, metadata={"description": "Whether it is for GET operations only."}
    )
    expires_at = UtcDateTime(
        load_default=None, allow_none=True, metadata={"description": "Absent or null: never."}
    )


class ApiKey(Schema):
    """An API key, less the key."""

    id = Uuid(required=True)
    name = Str(required=True)
    role = Str(required=True, validate=OneOf([role.name for role in Role]))
    read_only = Bool(required=True)
    prefix = Str(required=True, metadata={"description": "How the key begins."})
    expires_at = UtcDateTime(required=True, allow_none=True)
    last_used_at = UtcDateTime(
        required=True, allow_none=True, metadata={"description": "To the minute."}
    )
    created_by = Nested(ApiKeyMaker, required=True)
    created_at = UtcDateTime(required=True)
    updated_at = UtcDateTime(required=True)


class ApiKeyWithSecret(ApiKey):
    """A new API key; `key` is shown this once."""

    key = ShownOnce("The whole key.")


class ApiKeyFilters(Schema):
    """Which keys."""

    created_after = UtcDateTime()
    created_before = UtcDateTime()
