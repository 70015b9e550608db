"""SQL that closes open notifications for their emails."""

from typing import Any, NamedTuple
from uuid import UUID

from sqlalchemy import text

from app.kit import db

MAX_EMAILS = 500
"""The maximum number of emails that are built at once."""

# If a user's email is due, all open notifications of the same kind are included in it. Rows that
# other transactions have locked are left for the next round, so nothing waits for a lock.
_CLOSE = text(
    """
    WITH due AS MATERIALIZED (
        SELECT DISTINCT organization_id, user_id, kind FROM (
            SELECT organization_id, user_id, kind FROM notifications
            WHERE open_until <= now() ORDER BY open_until LIMIT :max_emails
        ) AS first
    ), closing AS (
        SELECT note.organization_id, note.id
        FROM notifications note JOIN due USING (organization_id, user_id, kind)
        WHERE note.open_until IS NOT NULL
        FOR NO KEY UPDATE OF note SKIP LOCKED
    ), closed AS (
        UPDATE notifications note SET open_until = NULL
        FROM closing
        WHERE note.organization_id = closing.organization_id AND note.id = closing.id
        RETURNING note.*
    )
    SELECT closed.organization_id, closed.user_id, closed.kind, closed.id, closed.title,
           closed.body, closed.link,
           closed.by_mail AND closed.read_at IS NULL AND users.disabled_at IS NULL
               AND EXISTS (SELECT FROM memberships member
                           WHERE member.organization_id = closed.organization_id
                             AND member.user_id = closed.user_id) AS mailed,
           users.email, users.locale, users.time_zone,
           users.notification_preferences AS preferences,
           organizations.name AS organization, organizations.slug
    FROM closed
    JOIN users ON users.id = closed.user_id
    JOIN organizations ON organizations.id = closed.organization_id
    ORDER BY closed.organization_id, closed.user_id, closed.kind, closed.id
    """
)


class Closed(NamedTuple):
    """A notification that was closed.

    `mailed` means that its email is to be sent, unless the user's `preferences` have changed
    since.
    """

    organization_id: UUID
    user_id: UUID
    kind: str
    id: UUID
    title: str
    body: str
    link: str | None
    mailed: bool
    email: str
    locale: str
    time_zone: str
    preferences: dict[str, Any]
    organization: str
    slug: str


def close_due() -> list[Closed]:
    """Close notifications whose window has ended, in every organization, and return them.

    They are ordered by organization, user and kind; the list is empty when none are left. All
    organizations must be bound.
    """
    return [Closed(*row) for row in db.session().execute(_CLOSE, {"max_emails": MAX_EMAILS})]
