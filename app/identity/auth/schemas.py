"""Request and response schemas for authentication."""

from app.identity.organizations.schemas import OrganizationSummary
from app.identity.users.schemas import UserSummary
from app.kit.api.fields import (
    Bool,
    Int,
    List,
    Name,
    Nested,
    OneOf,
    Response,
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


class EmailConfirmation(Schema):
    """Request body to confirm an email address with an emailed token."""

    token = Str(required=True, max_length=200)


class ResetConfirmation(EmailConfirmation):
    """Request body to set a new password with an emailed token."""

    password = Str(required=True, max_length=1024)


class PasswordChange(Schema):
    """Request body to change a password."""

    current_password = Str(required=True, max_length=1024)
    new_password = Str(required=True, max_length=1024)


class EmailChangeRequest(Login):
    """Request body to ask for a link that confirms a new or unverified email address."""


class EmailedLink(Response):
    """The lifetime of the link that is emailed."""

    expires_in = Int(description="Lifetime of the link in seconds.")


class ConfirmedEmail(Response):
    """The email address that was confirmed, which is now the account's address."""

    email = Str()
    email_verified = Bool()


class ActiveSession(Response):
    """An active session, with the client that opened it."""

    id = Uuid()
    method = Str(validate=OneOf(("password", "oidc", "saml")))
    issued_at = UtcDateTime()
    expires_at = UtcDateTime()
    last_seen_at = UtcDateTime()
    ip_address = Str(allow_none=True)
    user_agent = Str(allow_none=True)
    current = Bool(description="Whether the request itself uses this session.")
    created_at = UtcDateTime()
    updated_at = UtcDateTime()


class SessionsRevoked(Response):
    """The number of revoked sessions."""

    revoked = Int()


class LoginResult(Response):
    """An access token, with the user and the user's organizations."""

    access_token = Str()
    token_type = Str()
    expires_in = Int(description="Lifetime of the access token in seconds.")
    user = Nested(UserSummary)
    organizations = List(Nested(OrganizationSummary))


class ApiKeySummary(Response):
    """The API key that authenticated the request."""

    id = Uuid()
    name = Str()
    read_only = Bool()


class SessionInfo(Response):
    """The current session or API key; an API key acts on behalf of the user who created it."""

    user = Nested(UserSummary)
    organizations = List(Nested(OrganizationSummary))
    session_id = Uuid(allow_none=True)
    api_key = Nested(ApiKeySummary, allow_none=True)
    expires_at = UtcDateTime(allow_none=True, description="Null for an API key that never expires.")
