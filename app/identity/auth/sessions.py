"""Service that lists and revokes the sessions of a user."""

from datetime import datetime
from typing import Any
from uuid import UUID

from app.identity.auth import queries
from app.identity.users import queries as user_queries
from app.identity.users.models import User
from app.kit import db, errors, tokens
from app.kit.pagination import Page, PageRequest
from app.kit.principal import Caller


def list_sessions(
    caller: Caller,
    page: PageRequest,
    *,
    created_after: datetime | None = None,
    created_before: datetime | None = None,
) -> Page:
    """Return a page of the caller's active sessions, filtered by the time of issue.

    A session that is limited to one organization sees only the sessions limited to the same one:
    that organization's identity provider must not learn where else the user is signed in.
    """
    return queries.list_active_sessions(
        caller.user_id,
        caller.session_id,
        page,
        only=caller.only_organization,
        created_after=created_after,
        created_before=created_before,
    )


def revoke(caller: Caller, session_id: UUID) -> None:
    """Revoke one of the sessions that `list_sessions` lists. Raises 404 for any other."""
    if not queries.revoke_own(session_id, caller.user_id, only=caller.only_organization):
        raise errors.not_found()


def revoke_all(caller: Caller) -> dict[str, int]:
    """Revoke all sessions of the caller, including the current one, and return {revoked}."""
    user = user_queries.lock(caller.user_id)
    if user is None:
        raise errors.not_found()
    return {"revoked": end_all(user)}


def end_single_sign_on_sessions(
    user_id: UUID, organization_id: UUID, *, keep: UUID | None = None
) -> None:
    """Revoke the single sign-on sessions of a user that give access to an organization.

    This includes sessions that give access to all of the user's organizations. The session `keep`
    is not revoked.
    """
    queries.revoke_single_sign_on(user_id, organization_id, keep=keep)


def end_all(user: User) -> int:
    """Increase the token version, revoke all sessions of a user, and return how many there were.

    The user must be locked or new. Afterwards, `user` has the new version, so that a new session
    can be opened at once.
    """
    user_queries.set_security(user, token_version=User.token_version + 1)
    return queries.revoke_all(user.id)


def discard(login: dict[str, Any]) -> None:
    """Revoke the session of a login response that will not be sent to the client."""
    claims = tokens.read(login["access_token"])
    queries.revoke(claims.session_id, db.utc_now())
