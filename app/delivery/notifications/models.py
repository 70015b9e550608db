"""Models for notifications, which users get in the application and by email."""

from datetime import datetime, time
from enum import StrEnum
from typing import Any
from uuid import UUID

from sqlalchemy import ForeignKey, Index, false, func, text, true
from sqlalchemy.orm import Mapped, mapped_column

from app.kit import db
from app.kit.tenancy import TenantModel

_IS_OPEN = text("open_until IS NOT NULL")
_IS_IN_APP = text("in_app")
_IS_UNREAD = text("(read_at IS NULL)")


class EmailFrequency(StrEnum):
    """The frequency at which a user receives notification emails."""

    IMMEDIATE = "immediate"
    HOURLY = "hourly"
    DAILY = "daily"


class Notification(TenantModel, db.Record, db.Base):
    """A notification to one user, in the application, by email, or both.

    `unique_key` prevents a second notification to the user about the same thing. If `in_app` is
    false, the notification exists only for its email and is not shown in the application.

    A notification with a `message` (the name of a topic) is open until `open_until`, or until it is
    read: further events on the topic are added to it, and title and body are rendered again from
    `gathered`. `count` is the number of its events; an assignment counts once per document or tag
    set. If `by_mail` is true, an email is sent when the notification is closed unread.

    A notification without `message` is about a single event. Its `open_until` is the time when its
    postponed email is due, and null without such an email.
    """

    __tablename__ = "notifications"
    __table_args__ = (
        Index(
            "ix_notifications_unread",
            "organization_id",
            "user_id",
            _IS_UNREAD,
            "created_at",
            "id",
            postgresql_where=_IS_IN_APP,
        ),
        Index(
            "ix_notifications_kind",
            "organization_id",
            "user_id",
            "kind",
            _IS_UNREAD,
            "created_at",
            "id",
            postgresql_where=_IS_IN_APP,
        ),
        Index("ix_notifications_created_at", "created_at"),
        Index("uq_notifications_key", "organization_id", "user_id", "unique_key", unique=True),
        Index(
            "uq_notifications_open",
            "organization_id",
            "user_id",
            "message",
            unique=True,
            postgresql_where=_IS_OPEN,
        ),
        Index("ix_notifications_due", "open_until", postgresql_where=_IS_OPEN),
    )

    user_id: Mapped[UUID] = mapped_column(ForeignKey("users.id", ondelete="CASCADE"))
    kind: Mapped[str]
    title: Mapped[str]
    body: Mapped[str] = mapped_column(default="")
    link: Mapped[str | None]
    unique_key: Mapped[str | None]
    read_at: Mapped[datetime | None]
    in_app: Mapped[bool] = mapped_column(default=True, server_default=true())
    count: Mapped[int] = mapped_column(default=1, server_default="1")
    message: Mapped[str | None]
    gathered: Mapped[dict[str, Any] | None]
    by_mail: Mapped[bool] = mapped_column(default=False, server_default=false())
    open_until: Mapped[datetime | None]


class NotificationCause(TenantModel, db.Base):
    """A record that an event was handled; `cause` is the id of the event.

    The record prevents a second notification when the event's job runs again. It is kept a little
    longer than the job.
    """

    __tablename__ = "notification_causes"
    __table_args__ = (Index("ix_notification_causes_created_at", "created_at"),)

    cause: Mapped[UUID] = mapped_column(primary_key=True)
    created_at: Mapped[datetime] = mapped_column(server_default=func.now())


class DeliveryPreferences(db.Base):
    """A user's preferences for notification emails. Without a row, emails are sent immediately.

    The quiet hours are local times in the user's time zone, and may cross midnight.
    """

    __tablename__ = "notification_delivery_preferences"

    user_id: Mapped[UUID] = mapped_column(
        ForeignKey("users.id", ondelete="CASCADE"), primary_key=True
    )
    email_frequency: Mapped[str]
    quiet_from: Mapped[time | None]
    quiet_to: Mapped[time | None]
    updated_at: Mapped[datetime]
    revision: Mapped[int]
