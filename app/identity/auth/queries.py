"""SQL queries for sessions.

The queries are not limited to one organization: authentication runs before the organization is
known.
"""

from dataclasses import dataclass
from datetime import datetime
from typing import Any, NamedTuple
from uuid import UUID

from sqlalchemy import ColumnElement, Select, false, func, or_, select, update

from app.identity.auth.models import Session
from app.identity.users.models import User
from app.kit import db, purging, tenancy
from app.kit.db import Checkpoint
from app.kit.pagination import Page, PageRequest, build_period_conditions, paginate
from app.kit.prepared import Prepared
from app.kit.principal import Organization

# Authentication takes one round trip: session, account, organization and membership are read
# together.
_AUTHENTICATE = Prepared(
    "authenticate",
    "uuid, text",
    """
    SELECT s.revoked_at IS NOT NULL OR s.expires_at <= now() OR u.disabled_at IS NOT NULL,
           u.token_version, u.email, u.name, s.last_seen_at < now() - interval '1 minute',
           s.organization_id, m.role, o.id, o.slug, o.status, o.settings, o.plan, o.plan_limits
    FROM sessions s
    JOIN users u ON u.id = s.user_id
    LEFT JOIN organizations o
        ON o.slug = $2 AND (s.organization_id IS NULL OR s.organization_id = o.id)
    LEFT JOIN memberships m ON m.organization_id = o.id AND m.user_id = u.id
    WHERE s.id = $1
    """,
)
# If many concurrent requests of one session find the timestamp outdated, only one request writes.
_UPDATE_LAST_SEEN_AT = Prepared(
    "touch_session",
    "uuid",
    """
    UPDATE sessions SET last_seen_at = now()
    WHERE id = (
        SELECT id FROM sessions
        WHERE id = $1 AND last_seen_at < now() - interval '1 minute'
        FOR UPDATE SKIP LOCKED
    )
    """,
)


@dataclass(frozen=True, slots=True)
class SessionState:
    """The state of a session, its account, and the organization that the request names, if any.

    `has_ended` is true if the session is revoked or expired, or the account is disabled.
    `last_seen_is_outdated` is true if `last_seen_at` is more than a minute old.
    `only_organization_id` is the organization that the session is limited to, or None.
    `organization` is the named organization; it is None if there is no such organization or the
    session is limited to another organization. `role` is also None if the user is not a member.
    """

    has_ended: bool
    token_version: int
    email: str
    name: str
    last_seen_is_outdated: bool
    only_organization_id: UUID | None
    role: str | None
    organization: Organization | None


def find_session(session_id: UUID, slug: str | None) -> SessionState | None:
    """Return the state of a session, or None if it does not exist.

    `slug` is the slug of the organization that the request names, or None.
    """
    with tenancy.across_organizations(
        reason="authenticates a caller before the organization is known"
    ):
        row = _AUTHENTICATE.first(str(session_id), slug)
    if row is None:
        return None
    organization = Organization(*row[7:]) if row[7] is not None else None
    values: list[Any] = [*row[:7], organization]
    return SessionState(*values)


def update_last_seen_at(session_id: UUID) -> None:
    """Update a session's `last_seen_at` to the current time.

    Writes at most once a minute, so that most read requests write nothing.
    """
    _UPDATE_LAST_SEEN_AT.execute(str(session_id))


def get_user_name(user_id: UUID) -> str:
    """Return the name in a user's profile; the user must exist."""
    return db.session().execute(select(User.name).where(User.id == user_id)).scalar_one()


_ACTIVE_CONDITIONS = (Session.revoked_at.is_(None), Session.expires_at > func.now())
_HAS_CURRENT_VERSION = (
    func.coalesce(Session.token_version, User.token_version) == User.token_version
)


def _build_active_conditions(
    user_id: UUID, only_organization_id: UUID | None
) -> list[ColumnElement[bool]]:
    scope = (
        [Session.organization_id == only_organization_id]
        if only_organization_id is not None
        else []
    )
    return [Session.user_id == user_id, *_ACTIVE_CONDITIONS, *scope]


class ActiveSession(NamedTuple):
    """An active session. `current` is true if the caller uses the session."""

    id: UUID
    method: str
    issued_at: datetime
    expires_at: datetime
    last_seen_at: datetime
    ip_address: str | None
    user_agent: str | None
    current: bool
    created_at: datetime
    updated_at: datetime


def _select_sessions(
    user_id: UUID, current_session_id: UUID | None, only_organization_id: UUID | None
) -> Select[Any]:
    columns = db.build_columns(
        ActiveSession._fields,
        Session,
        current=func.coalesce(Session.id == current_session_id, false()),
        created_at=Session.issued_at,
        updated_at=Session.last_seen_at,
    )
    return (
        select(*columns)
        .join(User, User.id == Session.user_id)
        .where(*_build_active_conditions(user_id, only_organization_id), _HAS_CURRENT_VERSION)
    )


def list_active_sessions(
    user_id: UUID,
    current_session_id: UUID | None,
    page: PageRequest,
    *,
    only_organization_id: UUID | None,
    created_after: datetime | None = None,
    created_before: datetime | None = None,
) -> Page:
    """Return a page of a user's active sessions.

    If `only_organization_id` is not None, the page contains only sessions that are limited to that
    organization.
    """
    sort_columns = {"issued_at": Session.issued_at, "last_seen_at": Session.last_seen_at}
    statement = _select_sessions(user_id, current_session_id, only_organization_id)
    statement = statement.where(
        *build_period_conditions(Session.issued_at, created_after, created_before)
    )
    return paginate(statement, page, sort_columns=sort_columns, unique=Session.id)


def list_all_active_sessions(user_id: UUID) -> list[ActiveSession]:
    """Return all active sessions of a user, newest first."""
    statement = _select_sessions(user_id, None, None).order_by(Session.issued_at.desc(), Session.id)
    return [ActiveSession._make(row) for row in db.session().execute(statement)]


def revoke(session_id: UUID) -> None:
    """Revoke a session, unless it is already revoked."""
    _revoke(Session.id == session_id, Session.revoked_at.is_(None))


def revoke_active_session(
    session_id: UUID, user_id: UUID, *, only_organization_id: UUID | None
) -> bool:
    """Revoke an active session of a user, and return whether there was such a session.

    As in `list_active_sessions`, a session with an outdated token version is not active.
    """
    version_conditions = (User.id == Session.user_id, _HAS_CURRENT_VERSION)
    return bool(
        _revoke(
            Session.id == session_id,
            *_build_active_conditions(user_id, only_organization_id),
            *version_conditions,
        )
    )


def revoke_all(
    user_id: UUID, *, token_version: int, only_organization_id: UUID | None = None
) -> int:
    """Revoke all sessions of a user, and return how many were active.

    If `only_organization_id` is not None, revokes only sessions that are limited to that
    organization. `token_version` is the user's token version before a possible increment. Sessions
    with another version are not counted, because they had already ended.
    """
    versions = _revoke(*_build_active_conditions(user_id, only_organization_id))
    return sum(version in (None, token_version) for version in versions)


def revoke_sso_sessions(
    user_id: UUID, organization_id: UUID, *, kept_session_id: UUID | None = None
) -> None:
    """Revoke a user's single sign-on sessions that give access to an organization.

    This includes sessions that give access to all of the user's organizations. If
    `kept_session_id` is not None, that session is not revoked.
    """
    has_access = or_(Session.organization_id == organization_id, Session.organization_id.is_(None))
    exclusions = [Session.id != kept_session_id] if kept_session_id is not None else []
    _revoke(
        *_build_active_conditions(user_id, None),
        Session.method != "password",
        has_access,
        *exclusions,
    )


def _revoke(*conditions: ColumnElement[bool]) -> list[int | None]:
    """Revoke the sessions that meet the conditions, and return their token versions."""
    statement = (
        update(Session)
        .where(*conditions)
        .values(revoked_at=db.utc_now())
        .returning(Session.token_version)
    )
    return list(db.execute_bulk(statement).scalars())


def is_unrevoked_session(session_id: UUID, user_id: UUID) -> bool:
    """Return whether a session belongs to a user and was not revoked; it may have expired."""
    statement = select(Session.id).where(
        Session.id == session_id, Session.user_id == user_id, Session.revoked_at.is_(None)
    )
    return db.session().execute(statement).first() is not None


def purge_sessions(checkpoint: Checkpoint) -> None:
    """Delete sessions that ended more than 30 days ago, one batch per transaction.

    Expired sessions are kept for 30 days so that sign-in recognizes a client that sends an expired
    token of the account, and counts its failures separately (see `attempts`).
    """
    for column in ("expires_at", "revoked_at"):
        purging.purge("sessions", f"{column} < now() - interval '30 days'", checkpoint)
