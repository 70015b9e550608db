"""SQL that inserts notifications, and reads or closes them for their emails."""

from collections.abc import Sequence
from typing import Any, NamedTuple
from uuid import UUID

from sqlalchemy import select, text
from sqlalchemy.dialects.postgresql import insert

from app.delivery.notifications.models import Notification
from app.identity.organizations.models import Organization
from app.identity.users.models import User
from app.kit import db
from app.kit.ids import uuid7

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


class NewNotification(NamedTuple):
    """The text of a notification for one user."""

    user_id: UUID
    title: str
    body: str
    in_app: bool


def insert_notifications(
    notifications: Sequence[NewNotification], *, kind: str, link: str | None, unique_key: str | None
) -> dict[UUID, UUID]:
    """Insert notifications in one statement and return the ids of the new ones by user.

    Users who already have a notification with this `unique_key` get none.
    """
    if not notifications:
        return {}
    common = {"kind": kind, "link": link, "unique_key": unique_key}
    rows = [{"id": uuid7(), **new._asdict(), **common} for new in notifications]
    statement = insert(Notification).on_conflict_do_nothing()
    returning = statement.returning(Notification.user_id, Notification.id)
    return {row.user_id: row.id for row in db.session().execute(returning, rows)}


class EmailData(NamedTuple):
    """The data of a notification's email; `link` is the path of an operation, with its query."""

    address: str
    locale: str
    title: str
    body: str
    link: str | None
    organization: str
    slug: str


def get_email_data(notification_id: UUID) -> EmailData | None:
    """Return the email data of a notification, or None if it is gone or its user is disabled."""
    statement = (
        select(
            User.email,
            User.locale,
            Notification.title,
            Notification.body,
            Notification.link,
            Organization.name,
            Organization.slug,
        )
        .join(User, User.id == Notification.user_id)
        .join(Organization, Organization.id == Notification.organization_id)
        .where(Notification.id == notification_id, User.disabled_at.is_(None))
    )
    row = db.session().execute(statement).first()
    return None if row is None else EmailData(*row)


class ClosedNotification(NamedTuple):
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


def close_due() -> list[ClosedNotification]:
    """Close notifications whose window has ended, in every organization, and return them.

    They are ordered by organization, user and kind; the list is empty when none are left. All
    organizations must be bound.
    """
    rows = db.session().execute(_CLOSE, {"max_emails": MAX_EMAILS})
    return [ClosedNotification(*row) for row in rows]
