"""SQL queries that mark a person's notifications as read or unread, and delete notifications.

Callers must use `tenancy.across_organizations`. Every statement filters by person and
organizations.
"""

from datetime import datetime
from typing import Any, NamedTuple
from uuid import UUID

from sqlalchemy import ColumnElement, case, delete, func, null, select, text, true, update

from app.delivery.notifications.models import Notification
from app.delivery.notifications.queries.listing import COLUMNS, NotificationRow, NotificationScope
from app.kit import db

BATCH_SIZE = 5000
"""The maximum number of notifications that are marked in one transaction."""

# Notifications that another transaction has locked, or has changed since the statement began, stay
# unread, because they may be about events that the person has not seen.
_MARK_BATCH_AS_READ = text(
    """
    WITH seen AS MATERIALIZED (
        SELECT organization_id, id, created_at, updated_at FROM notifications
        WHERE organization_id = :organization_id AND user_id = :user_id AND in_app
          AND read_at IS NULL AND kind = coalesce(CAST(:kind AS text), kind)
          AND (created_at, id) < (CAST(:created_at AS timestamptz), CAST(:id AS uuid))
        ORDER BY created_at DESC, id DESC LIMIT :batch
    ), unchanged AS (
        SELECT note.organization_id, note.id
        FROM notifications note JOIN seen USING (organization_id, id)
        WHERE note.read_at IS NULL AND note.updated_at = seen.updated_at
        FOR NO KEY UPDATE OF note SKIP LOCKED
    ), changed AS (
        UPDATE notifications note SET read_at = now(), updated_at = now() FROM unchanged
        WHERE note.organization_id = unchanged.organization_id AND note.id = unchanged.id
        RETURNING note.id
    )
    SELECT seen.created_at, seen.id, (SELECT count(*) FROM changed) AS changed FROM seen
    ORDER BY seen.created_at, seen.id LIMIT 1
    """
)


class Position(NamedTuple):
    """The sort values of a notification; notifications are sorted newest first."""

    created_at: datetime
    id: UUID


def set_read(
    notification_id: UUID, scope: NotificationScope, *, read: bool, seen_count: int | None
) -> NotificationRow | None:
    """Mark a notification in the scope as read or unread; return the notification, or None.

    Returns None if the notification is not in the scope. If `seen_count` is not None, a
    notification with more than `seen_count` events is not marked as read.
    """
    read_at: ColumnElement[Any] = null()
    if read:
        is_seen = true() if seen_count is None else Notification.count <= seen_count
        read_at = func.coalesce(Notification.read_at, case((is_seen, func.now())))
    statement = (
        update(Notification)
        .where(Notification.id == notification_id, *scope.build_conditions())
        .values(read_at=read_at, updated_at=func.now())
        .returning(*COLUMNS)
    )
    row = db.execute_bulk(statement).first()
    return None if row is None else scope.build_row(row)


def delete_notification(
    notification_id: UUID, scope: NotificationScope, *, seen_count: int | None
) -> bool:
    """Delete a notification if it is in the scope, and return whether it was deleted.

    If `seen_count` is not None, a notification with more than `seen_count` events is not deleted.
    """
    is_seen = true() if seen_count is None else Notification.count <= seen_count
    statement = (
        delete(Notification)
        .where(Notification.id == notification_id, is_seen, *scope.build_conditions())
        .returning(Notification.id)
    )
    return db.execute_bulk(statement).first() is not None


def get_event_count(notification_id: UUID, scope: NotificationScope) -> int | None:
    """Return how many events a notification covers, or None if it is not in the scope."""
    statement = select(Notification.count).where(
        Notification.id == notification_id, *scope.build_conditions()
    )
    return db.session().scalar(statement)


def mark_batch_as_read(
    scope: NotificationScope, organization_id: UUID, after: Position | None
) -> tuple[Position | None, int]:
    """Mark a batch of unread notifications in one organization as read, newest first.

    The batch begins after the position `after`, or with the newest notification if it is None.
    A notification that another transaction changes at the same time stays unread. Returns the last
    position in the batch (None if no unread notifications were left) and the number of
    notifications that were marked.
    """
    values = {
        "organization_id": organization_id,
        "user_id": scope.user_id,
        "kind": scope.kind,
        "created_at": "infinity" if after is None else after.created_at,
        "id": UUID(int=0) if after is None else after.id,
        "batch": BATCH_SIZE,
    }
    row = db.session().execute(_MARK_BATCH_AS_READ, values).first()
    return (None, 0) if row is None else (Position(row.created_at, row.id), row.changed)
