"""Notifications: what a user is told, inside the application and by e-mail."""

from datetime import datetime
from typing import Any
from uuid import UUID

from sqlalchemy import ForeignKey, Index, false, func, text, true
from sqlalchemy.orm import Mapped, mapped_column

from app.kit import db
from app.kit.tenancy import TenantModel

_OPEN = text("open_until IS NOT NULL")


class Notification(TenantModel, db.Record, db.Base):
    """One message to one user. `unique_key` keeps a cause from telling it twice.

    `in_app`: it is shown in the application; one that is not is there for its letter alone. One
    with `open_until` collects: until it is closed then, or read, more of the same `message` is
    counted in, and title and body are written anew from `gathered`. `by_mail`: its letter goes when
    it is closed, and then only.
    """

    __tablename__ = "notifications"
    __table_args__ = (
        Index("ix_notifications_user", "organization_id", "user_id", "created_at", "id"),
        Index("uq_notifications_key", "organization_id", "user_id", "unique_key", unique=True),
        Index(
            "uq_notifications_open",
            "organization_id",
            "user_id",
            "message",
            unique=True,
            postgresql_where=_OPEN,
        ),
        Index("ix_notifications_due", "open_until", postgresql_where=_OPEN),
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
    """That people were told of an event, by its id: whatever happens to the job, they are not told
    again. Kept a little longer than the jobs that could."""

    __tablename__ = "notification_causes"
    __table_args__ = (Index("ix_notification_causes_created_at", "created_at"),)

    cause: Mapped[UUID] = mapped_column(primary_key=True)
    created_at: Mapped[datetime] = mapped_column(server_default=func.now())
