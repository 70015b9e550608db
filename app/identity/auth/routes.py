"""auth: accounts, sessions and passwords."""

from typing import Any
from uuid import UUID

from flask import request

from app.identity.auth import email_change, recovery, registration, schemas, service, sessions
from app.kit.api.blueprint import Blueprint, Listing
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
def register(body: dict[str, Any]) -> Any:
    """Make an account, and its first organization where one is named."""
    return registration.register(**body, **_client())


@blueprint.post(
    "/auth/login",
    access="public",
    limit="login",
    body=schemas.Login,
    returns=schemas.LoginResult,
)
def login(body: dict[str, Any]) -> Any:
    """Exchange e-mail and password for an access token."""
    authorization = request.headers.get("Authorization")
    return service.login(**body, **_client(), authorization=authorization)


@blueprint.post("/auth/logout", access="user", status=204)
def logout(caller: Caller) -> None:
    """Revoke the current token."""
    service.logout(caller)


@blueprint.get("/auth/session", access="user", keys=True, returns=schemas.SessionInfo)
def get_session(caller: Caller) -> Any:
    """Whom the current token or API key belongs to, its organizations and its expiry."""
    return service.session_of(caller)


@blueprint.get(
    "/auth/sessions",
    access="user",
    query=Listing(sorts=("-issued_at", "last_seen_at"), filters=schemas.SessionFilters),
    returns=schemas.LiveSession,
)
def list_sessions(caller: Caller, query: dict[str, Any]) -> Any:
    """List the caller's live sessions: when and from where each was issued."""
    return sessions.list_sessions(caller, **query)


@blueprint.delete("/auth/sessions/{session_id}", access="user")
def revoke_session(caller: Caller, session_id: UUID) -> None:
    """Revoke one of the caller's sessions."""
    sessions.revoke(caller, session_id)


@blueprint.post("/auth/sessions/revoke-all", access="user", returns=schemas.SessionsRevoked)
def revoke_all_sessions(caller: Caller) -> Any:
    """Make every token issued before worthless, the current one too."""
    return sessions.revoke_all(caller)


@blueprint.post(
    "/auth/password-reset/request",
    access="public",
    limit="password",
    body=schemas.ResetRequest,
    returns=schemas.LinkMailed,
    status=202,
)
def request_password_reset(body: dict[str, Any]) -> Any:
    """Mail a single-use reset link; answers the same whether or not the address is known."""
    return recovery.request_reset(**body)


@blueprint.post(
    "/auth/password-reset/confirm",
    access="public",
    limit="password",
    body=schemas.ResetConfirmation,
    returns=schemas.LoginResult,
)
def confirm_password_reset(body: dict[str, Any]) -> Any:
    """Set a new password with a mailed token, which signs out everywhere else."""
    return recovery.confirm_reset(**body, **_client())


@blueprint.post(
    "/auth/password/change",
    access="user",
    limit="password",
    body=schemas.PasswordChange,
    returns=schemas.LoginResult,
)
def change_password(caller: Caller, body: dict[str, Any]) -> Any:
    """Change the password; the answer has the only token that is good from now on."""
    return recovery.change(caller, **body, **_client())


@blueprint.post(
    "/auth/email-change/request",
    access="user",
    body=schemas.EmailChangeRequest,
    returns=schemas.LinkMailed,
    status=202,
)
def request_email_change(caller: Caller, body: dict[str, Any]) -> Any:
    """Mail a link to a new address, or to the present one while it is unverified."""
    return email_change.request(caller, **body)


@blueprint.post(
    "/auth/email-change/confirm",
    access="public",
    body=schemas.EmailConfirmation,
    returns=schemas.ConfirmedEmail,
)
def confirm_email_change(body: dict[str, Any]) -> Any:
    """Confirm an address with the mailed token."""
    return email_change.confirm(**body)
