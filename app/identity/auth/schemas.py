"""Bodies and answers of signing in."""

from app.identity.organizations.schemas import OrganizationSummary
from app.kit.api.fields import Bool, Int, List, Nested, Schema, Str, UtcDateTime, Uuid


class Login(Schema):
    """Credentials."""

    email = Str(required=True, max_length=320)
    password = Str(required=True, max_length=1024)


class UserSummary(Schema):
    """Who somebody is."""

    id = Uuid(required=True)
    email = Str(required=True)
    name = Str(required=True)


class LoginResult(Schema):
    """The login response."""

    access_token = Str(required=True)
    token_type = Str(required=True)
    expires_in = Int(required=True, metadata={"description": "Seconds."})
    user = Nested(UserSummary, required=True)
    organizations = List(Nested(OrganizationSummary), required=True)


class KeySummary(Schema):
    """The API key that a request came with."""

    id = Uuid(required=True)
    name = Str(required=True)
    read_only = Bool(required=True)


class SessionInfo(Schema):
    """Whom a token or API key belongs to; a key acts for the user who made it."""

    user = Nested(UserSummary, required=True)
    organizations = List(Nested(OrganizationSummary), required=True)
    session_id = Uuid(required=True, allow_none=True)
    api_key = Nested(KeySummary, required=True, allow_none=True)
    expires_at = UtcDateTime(
        required=True, allow_none=True, metadata={"description": "Null: an API key without an end."}
    )
