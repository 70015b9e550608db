"""API routes for authentication: registration, sessions, passwords and email addresses."""

from typing import Any
from uuid import UUID

from flask import request

from app.identity.auth import credentials, schemas, service
from app.identity.auth.service import Client
from app.kit.api.blueprint import Blueprint, Listing
from app.kit.pagination import Page
from app.kit.principal import Caller

blueprint = Blueprint("auth", description="Sessions and credentials.", record_type="sessions")


def read_client() -> Client:
    """Return the IP address and User-Agent header of the current request."""
    return Client(request.remote_addr, request.headers.get("User-Agent"))


@blueprint.post(
    "/auth/register",
    access="public",
    limit="register",
    body=schemas.Register,
    returns=schemas.LoginResult,
    status=201,
)
def register(body: dict[str, Any]) -> object:
    """Register an account.

    Creates the account and, if `organization_name` is present, the user's first organization.
    Emails a link that confirms the address. If registration requires an invitation, only the first
    account of the installation can be registered.
    """
    return service.register(**body, client=read_client())


@blueprint.post(
    "/auth/login",
    access="public",
    limit="login",
    body=schemas.Login,
    returns=schemas.LoginResult,
)
def login(body: dict[str, Any]) -> object:
    """Log in.

    Exchanges an email address and password for an access token. After several consecutive failures,
    the client must wait before the next attempt.
    """
    authorization = request.headers.get("Authorization")
    return service.login(**body, client=read_client(), authorization=authorization)


@blueprint.post("/auth/logout", access="user", status=204)
def logout(caller: Caller) -> None:
    """Log out.

    Revokes the current access token and its session.
    """
    service.logout(caller)


@blueprint.get("/auth/session", access="user", allows_api_keys=True, returns=schemas.SessionInfo)
def get_session(caller: Caller) -> object:
    """Get the current session.

    Returns the user, the organizations and the expiry of the current access token or API key.
    """
    return service.get_session(caller)


@blueprint.get(
    "/auth/sessions",
    access="user",
    query=Listing(sort_keys=("-issued_at", "last_seen_at"), has_period=True),
    returns=schemas.ActiveSession,
)
def list_sessions(caller: Caller, query: dict[str, Any]) -> Page:
    """List sessions.

    Returns the caller's active sessions, each with the time and the IP address of its login. If the
    current session is limited to one organization, returns only sessions with the same limit.
    """
    return service.list_sessions(caller, **query)


@blueprint.delete("/auth/sessions/{session_id}", access="user")
def revoke_session(caller: Caller, session_id: UUID) -> None:
    """Revoke a session.

    Revokes one of the caller's sessions, so that its access token is refused.
    """
    service.revoke_session(caller, session_id)


@blueprint.post("/auth/sessions/revoke-all", access="user", returns=schemas.SessionsRevoked)
def revoke_all_sessions(caller: Caller) -> dict[str, int]:
    """Revoke all sessions.

    Revokes all of the caller's sessions and access tokens, including the current access token. If
    the current session is limited to one organization, revokes and counts only sessions that are
    limited to the same organization.
    """
    return service.revoke_all_sessions(caller)


@blueprint.post(
    "/auth/password-reset/request",
    access="public",
    limit="password",
    body=schemas.ResetRequest,
    returns=schemas.EmailedLink,
    status=202,
)
def request_password_reset(body: dict[str, Any]) -> dict[str, int]:
    """Request a password reset.

    Emails a single-use link to choose a new password. The response is the same whether or not the
    address has an account.
    """
    return credentials.request_reset(**body)


@blueprint.post(
    "/auth/password-reset/confirm",
    access="public",
    limit="password",
    body=schemas.ResetConfirmation,
    returns=schemas.LoginResult,
)
def confirm_password_reset(body: dict[str, Any]) -> object:
    """Confirm a password reset.

    Sets a new password with an emailed token, ends all sessions and opens a new session.
    """
    return credentials.confirm_reset(**body, client=read_client())


@blueprint.post(
    "/auth/password/change",
    access="user",
    limit="password",
    body=schemas.PasswordChange,
    returns=schemas.LoginResult,
)
def change_password(caller: Caller, body: dict[str, Any]) -> object:
    """Change the password.

    Ends all sessions, including the current session, and returns a new access token.
    """
    return credentials.change_password(caller, **body, client=read_client())


@blueprint.post(
    "/auth/email-change/request",
    access="user",
    body=schemas.EmailChangeRequest,
    returns=schemas.EmailedLink,
    status=202,
)
def request_email_change(caller: Caller, body: dict[str, Any]) -> dict[str, int]:
    """Request an email change.

    Emails a confirmation link to a new address, or to the current address if it is not verified
    yet.
    """
    return credentials.request_email_change(caller, **body)


@blueprint.post(
    "/auth/email-change/confirm",
    access="public",
    body=schemas.EmailConfirmation,
    returns=schemas.ConfirmedEmail,
)
def confirm_email_change(body: dict[str, Any]) -> object:
    """Confirm an email change.

    Confirms an address with the emailed token. If the account's address changes, all sessions end.
    """
    return credentials.confirm_email_change(**body)
