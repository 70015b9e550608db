"""SQL queries that insert notifications."""

from collections.abc import Sequence
from typing import NamedTuple
from uuid import UUID

from sqlalchemy.dialects.postgresql import insert

from app.delivery.notifications.models import Notification
from app.kit import db
from app.kit.ids import uuid7


class NewNotification(NamedTuple):
    """A notification to insert for one user."""

    user_id: UUID
    title: str
    body: str
    in_app: bool


def insert_notifications(
    notifications: Sequence[NewNotification], *, kind: str, link: str | None, unique_key: str | None
) -> dict[UUID, UUID]:
    """Insert notifications in one statement, and return the new notifications' ids by user id.

    Users who already have a notification with this `unique_key` are skipped.
    """
    if not notifications:
        return {}
    values = {"kind": kind, "link": link, "unique_key": unique_key}
    rows = [{"id": uuid7(), **notification._asdict(), **values} for notification in notifications]
    statement = insert(Notification).on_conflict_do_nothing()
    returning = statement.returning(Notification.user_id, Notification.id)
    return {row.user_id: row.id for row in db.session().execute(returning, rows)}
