"""auth: logging in and out."""

from typing import Any

from flask import request

from app.identity.auth import service
from app.identity.auth.schemas import Login, LoginResult, SessionInfo
from app.kit.api.blueprint import Blueprint
from app.kit.principal import Caller

blueprint = Blueprint("auth", description="Sessions and credentials.", records="sessions")


@blueprint.post("/auth/login", access="public", limit="login", body=Login, returns=LoginResult)
def login(body: dict[str, Any]) -> Any:
    """Exchange e-mail and password for an access token."""
    agent = request.headers.get("User-Agent")
    return service.login(**body, ip_address=request.remote_addr, user_agent=agent)


@blueprint.post("/auth/logout", access="user", status=204)
def logout(caller: Caller) -> None:
    """Revoke the current token."""
    service.logout(caller)


@blueprint.get("/auth/session", access="user", keys=True, returns=SessionInfo)
def get_session(caller: Caller) -> Any:
    """Whom the current token or API key belongs to, its organizations and its expiry."""
    return service.session_of(caller)
