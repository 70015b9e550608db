"""SQL of signing in. These see every organization: who calls is what they find out."""

from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from sqlalchemy import func, select, text, update

from app.identity.auth.models import Session
from app.identity.users.models import User
from app.kit import db, tenancy

# One round trip proves a request: session, account, organization and membership together. The
# planner's work on four joins would cost more than the look-ups, so each connection prepares it.
_PREPARE = """
PREPARE authenticate (uuid, text) AS
SELECT s.revoked_at IS NOT NULL OR s.expires_at <= now() OR u.disabled_at IS NOT NULL AS ended,
       u.token_version, u.email, u.name,
       s.last_seen_at < now() - interval '1 minute' AS seen_long_ago,
       o.id AS organization_id, o.slug, o.status, o.settings, m.role
FROM sessions s
JOIN users u ON u.id = s.user_id
LEFT JOIN organizations o ON o.slug = $2
LEFT JOIN memberships m ON m.organization_id = o.id AND m.user_id = u.id
WHERE s.id = $1
"""


@dataclass(frozen=True, slots=True)
class Proof:
    """What the database says of a session and, where a slug was given, of a membership."""

    ended: bool
    token_version: int
    email: str
    name: str
    seen_long_ago: bool
    organization_id: UUID | None
    slug: str | None
    status: str | None
    settings: dict[str, Any] | None
    role: str | None


def prove(session_id: UUID, slug: str | None) -> Proof | None:
    """Look a session up; None when there is none."""
    connection = db.session().connection()
    with tenancy.across_organizations(reason="proves a caller before the organization is known"):
        if not connection.info.get("authenticate"):
            connection.exec_driver_sql(_PREPARE)
            connection.info["authenticate"] = True
        row = connection.exec_driver_sql(
            "EXECUTE authenticate (%s, %s)", (str(session_id), slug)
        ).first()
    return Proof(*row) if row is not None else None


def touch(session_id: UUID) -> None:
    """Note that a session was used; at most once a minute, so that reads stay reads."""
    db.session().execute(
        update(Session)
        .where(
            Session.id == session_id,
            Session.last_seen_at < func.now() - text("interval '1 minute'"),
        )
        .values(last_seen_at=func.now())
    )


def user_by_email(email: str) -> User | None:
    """The account of a (lower-cased) address."""
    return db.session().execute(select(User).where(User.email == email)).scalar_one_or_none()


def revoke(session_id: UUID, at: datetime) -> None:
    """End a session."""
    db.session().execute(
        update(Session)
        .where(Session.id == session_id, Session.revoked_at.is_(None))
        .values(revoked_at=at)
    )
