"""A person's sessions: listing them, and ending one or all."""

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
    """The live sessions of the caller, those issued after and before the times given.

    A session that is good for one organization sees those of that one: whoever vouches for people
    there need not know where they are otherwise.
    """
    only = caller.only_organization
    return queries.live_sessions(
        caller.user_id,
        caller.session_id,
        page,
        only=only,
        created_after=created_after,
        created_before=created_before,
    )


def revoke(caller: Caller, session_id: UUID) -> None:
    """End one of the sessions that `list_sessions` lists. Raises 404 for any other."""
    if not queries.revoke_own(session_id, caller.user_id, only=caller.only_organization):
        raise errors.not_found()


def revoke_all(caller: Caller) -> dict[str, int]:
    """End every session of the caller, this one too: {revoked}."""
    user = user_queries.lock(caller.user_id)
    if user is None:
        raise errors.not_found()
    return {"revoked": end_all(user)}


def end_single_sign_on(user_id: UUID, organization_id: UUID, *, keep: UUID | None = None) -> None:
    """End the sessions of a user that single sign-on opened and that are good for an organization.

    `keep` is one that goes on. Sessions that are good for all of the user's organizations end too.
    """
    queries.revoke_single_sign_on(user_id, organization_id, keep=keep)


def end_all(user: User) -> int:
    """Raise the token version and end all sessions of a user, locked or new; how many there were.

    `user` carries the new version afterwards, for a session that is to be opened next.
    """
    user_queries.set_security(user, token_version=User.token_version + 1)
    return queries.revoke_all(user.id)


def discard(login: dict[str, Any]) -> None:
    """Revoke the session of a login response that nobody will use."""
    claims = tokens.read(login["access_token"])
    queries.revoke(claims.session_id, db.utc_now())
