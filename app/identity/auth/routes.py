"""Routes of authentication: registration, sessions, passwords and email addresses."""

from typing import Any
from uuid import UUID

from flask import request

from app.identity.auth import email_change, recovery, registration, schemas, service, sessions
from app.kit.api.blueprint import Blueprint, Listing
from app.kit.pagination import Page
from app.kit.principal import Caller

blueprint = Blueprint("auth", description="Sessions and credentials.", records="sessions")


def _client() -> dict[str, Any]:
    return {
        "ip_address": request.remote_addr,
        "user_agent": request.headers.get("User-Agent"),
    }


@blueprint.post(
    "/auth/register",
    access="public",
    limit="register",
    body=schemas.Register,
    returns=schemas.LoginResult,
    status=201,
)
def register(body: dict[str, Any]) -> dict[str, Any]:
    """Register an account.

    Creates the account and, if `organization_name` is present, its first organization, and emails a
    link that confirms the address. If registration requires an invitation, only the first account
    of the installation can be registered.
    """
    return registration.register(**body, **_client())


@blueprint.post(
    "/auth/login",
    access="public",
    limit="login",
    body=schemas.Login,
    returns=schemas.LoginResult,
)
def login(body: dict[str, Any]) -> dict[str, Any]:
    """Log in.

    Exchanges an email address and password for an access token. After several failures in a row,
    the next attempt has to wait.
    """
    authorization = request.headers.get("Authorization")
    return service.login(**body, **_client(), authorization=authorization)


@blueprint.post("/auth/logout", access="user", status=204)
def logout(caller: Caller) -> None:
    """Log out.

    Revokes the current token and its session.
    """
    service.logout(caller)


@blueprint.get("/auth/session", access="user", keys=True, returns=schemas.SessionInfo)
def get_session(caller: Caller) -> dict[str, Any]:
    """Get the current session.

    Returns the user, the organizations and the expiry of the current token or API key.
    """
    return service.get_session(caller)


@blueprint.get(
    "/auth/sessions",
    access="user",
    query=Listing(sorts=("-issued_at", "last_seen_at"), filters=schemas.SessionFilters),
    returns=schemas.ActiveSession,
)
def list_sessions(caller: Caller, query: dict[str, Any]) -> Page:
    """List sessions.

    Returns the caller's active sessions, each with the time and client address of its login.
    """
    return sessions.list_sessions(caller, **query)


@blueprint.delete("/auth/sessions/{session_id}", access="user")
def revoke_session(caller: Caller, session_id: UUID) -> None:
    """Revoke a session.

    Revokes one of the caller's sessions.
    """
    sessions.revoke(caller, session_id)


@blueprint.post("/auth/sessions/revoke-all", access="user", returns=schemas.SessionsRevoked)
def revoke_all_sessions(caller: Caller) -> dict[str, int]:
    """Revoke all sessions.

    Revokes all of the caller's tokens, including the current one.
    """
    return sessions.revoke_all(caller)


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

    Emails a single-use link. The response is the same whether or not the address has an account.
    """
    return recovery.request_reset(**body)


@blueprint.post(
    "/auth/password-reset/confirm",
    access="public",
    limit="password",
    body=schemas.ResetConfirmation,
    returns=schemas.LoginResult,
)
def confirm_password_reset(body: dict[str, Any]) -> dict[str, Any]:
    """Confirm a password reset.

    Sets a new password with an emailed token, ends all other sessions and opens a new one.
    """
    return recovery.confirm_reset(**body, **_client())


@blueprint.post(
    "/auth/password/change",
    access="user",
    limit="password",
    body=schemas.PasswordChange,
    returns=schemas.LoginResult,
)
def change_password(caller: Caller, body: dict[str, Any]) -> dict[str, Any]:
    """Change the password.

    Ends all sessions, including the current one, and returns a new token.
    """
    return recovery.change_password(caller, **body, **_client())


@blueprint.post(
    "/auth/email-change/request",
    access="user",
    body=schemas.EmailChangeRequest,
    returns=schemas.EmailedLink,
    status=202,
)
def request_email_change(caller: Caller, body: dict[str, Any]) -> dict[str, int]:
    """Request an email change.

    Emails a confirmation link to a new address, or to the current one if it is not verified yet.
    """
    return email_change.request(caller, **body)


@blueprint.post(
    "/auth/email-change/confirm",
    access="public",
    body=schemas.EmailConfirmation,
    returns=schemas.ConfirmedEmail,
)
def confirm_email_change(body: dict[str, Any]) -> dict[str, Any]:
    """Confirm an email change.

    Confirms an address with the emailed token. A new address ends all sessions.
    """
    return email_change.confirm(**body)
