"""Bodies and answers of signing in."""

from app.identity.organizations.schemas import OrganizationSummary
from app.kit.api.fields import (
    Bool,
    Int,
    List,
    Name,
    Nested,
    OneOf,
    Schema,
    Str,
    UtcDateTime,
    Uuid,
)


class Login(Schema):
    """Credentials."""

    email = Str(required=True, max_length=320)
    password = Str(required=True, max_length=1024)


class Register(Schema):
    """A new account and, where it is named, its first organization."""

    email = Str(required=True, max_length=320)
    password = Str(required=True, max_length=1024)
    name = Name(required=True)
    organization_name = Name()


class ResetRequest(Schema):
    """Whose password is forgotten."""

    email = Str(required=True, max_length=320)


class ResetConfirmation(Schema):
    """The mailed token and the new password."""

    token = Str(required=True, max_length=200)
    password = Str(required=True, max_length=1024)


class PasswordChange(Schema):
    """The present password and the new one."""

    current_password = Str(required=True, max_length=1024)
    new_password = Str(required=True, max_length=1024)


class EmailChangeRequest(Schema):
    """The address to confirm, and the password."""

    email = Str(required=True, max_length=320)
    password = Str(required=True, max_length=1024)


class EmailConfirmation(Schema):
    """The mailed token."""

    token = Str(required=True, max_length=200)


class LinkMailed(Schema):
    """A link is on its way, if there is somebody to mail it to."""

    expires_in = Int(required=True, metadata={"description": "Seconds for which a link is good."})


class ConfirmedEmail(Schema):
    """The account's address from now on."""

    email = Str(required=True)
    email_verified = Bool(required=True)


class SessionFilters(Schema):
    """Filters of one's sessions; a session is created when it is issued."""

    created_after = UtcDateTime()
    created_before = UtcDateTime()


class LiveSession(Schema):
    """One log-in that is not over."""

    id = Uuid(required=True)
    method = Str(required=True, validate=OneOf(("password", "oidc", "saml")))
    issued_at = UtcDateTime(required=True)
    expires_at = UtcDateTime(required=True)
    last_seen_at = UtcDateTime(required=True)
    ip_address = Str(required=True, allow_none=True)
    user_agent = Str(required=True, allow_none=True)
    current = Bool(required=True)
    created_at = UtcDateTime(required=True)
    updated_at = UtcDateTime(required=True)


class SessionsRevoked(Schema):
    """How many sessions ended."""

    revoked = Int(required=True)


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
