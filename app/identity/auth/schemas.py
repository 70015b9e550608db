"""Request and response schemas of authentication."""

from app.identity.organizations.schemas import OrganizationSummary
from app.identity.users.schemas import UserSummary
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
    """Request body to log in with a password."""

    email = Str(required=True, max_length=320)
    password = Str(required=True, max_length=1024)


class Register(Login):
    """Request body to register an account and, optionally, its first organization."""

    name = Name(required=True)
    organization_name = Name()


class ResetRequest(Schema):
    """Request body to request a password reset."""

    email = Str(required=True, max_length=320)


class ResetConfirmation(Schema):
    """Request body to set a new password with an emailed token."""

    token = Str(required=True, max_length=200)
    password = Str(required=True, max_length=1024)


class PasswordChange(Schema):
    """Request body to change a password."""

    current_password = Str(required=True, max_length=1024)
    new_password = Str(required=True, max_length=1024)


class EmailChangeRequest(Schema):
    """Request body to change or confirm an email address."""

    email = Str(required=True, max_length=320)
    password = Str(required=True, max_length=1024)


class EmailConfirmation(Schema):
    """Request body to confirm an email address with an emailed token."""

    token = Str(required=True, max_length=200)


class EmailedLink(Schema):
    """A link will be emailed, if the address qualifies for one."""

    expires_in = Int(required=True, metadata={"description": "Lifetime of the link in seconds."})


class ConfirmedEmail(Schema):
    """The account's current email address."""

    email = Str(required=True)
    email_verified = Bool(required=True)


class SessionFilters(Schema):
    """Query parameters that filter the caller's sessions; the time of creation is `issued_at`."""

    created_after = UtcDateTime()
    created_before = UtcDateTime()


class ActiveSession(Schema):
    """An active session."""

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
    """The number of revoked sessions."""

    revoked = Int(required=True)


class LoginResult(Schema):
    """An access token with its user and the user's organizations."""

    access_token = Str(required=True)
    token_type = Str(required=True)
    expires_in = Int(required=True, metadata={"description": "Lifetime in seconds."})
    user = Nested(UserSummary, required=True)
    organizations = List(Nested(OrganizationSummary), required=True)


class ApiKeySummary(Schema):
    """The API key of the request."""

    id = Uuid(required=True)
    name = Str(required=True)
    read_only = Bool(required=True)


class SessionInfo(Schema):
    """The owner of a token or API key; a key acts on behalf of the user who created it."""

    user = Nested(UserSummary, required=True)
    organizations = List(Nested(OrganizationSummary), required=True)
    session_id = Uuid(required=True, allow_none=True)
    api_key = Nested(ApiKeySummary, required=True, allow_none=True)
    expires_at = UtcDateTime(
        required=True,
        allow_none=True,
        metadata={"description": "Null for an API key that never expires."},
    )
