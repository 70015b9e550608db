"""Notifications: what a user is told inside the application."""

from datetime import datetime
from uuid import UUID

from sqlalchemy import ForeignKey, Index
from sqlalchemy.orm import Mapped, mapped_column

from app.kit import db
from app.kit.tenancy import TenantModel


class Notification(TenantModel, db.Record, db.Base):
    """One message to one user. `unique_key` keeps a cause from telling it twice."""

    __tablename__ = "notifications"
    __table_args__ = (
        Index("ix_notifications_user", "organization_id", "user_id", "created_at", "id"),
        Index("uq_notifications_key", "organization_id", "user_id", "unique_key", unique=True),
    )

    user_id: Mapped[UUID] = mapped_column(ForeignKey("users.id", ondelete="CASCADE"))
    kind: Mapped[str]
    title: Mapped[str]
    body: Mapped[str] = mapped_column(default="")
    link: Mapped[str | None]
    unique_key: Mapped[str | None]
    read_at: Mapped[datetime | None]
