"""Webhooks, what is to be delivered to them, and every attempt at it."""

from datetime import datetime
from uuid import UUID

from sqlalchemy import ForeignKeyConstraint, Index, LargeBinary, func, text
from sqlalchemy.dialects.postgresql import ARRAY, TEXT
from sqlalchemy.orm import Mapped, mapped_column

from app.kit import db
from app.kit.encryption import encrypted
from app.kit.ids import uuid7
from app.kit.tenancy import TenantModel


class Webhook(TenantModel, db.Revised, db.Base):
    """A receiver. Secrets are encrypted; a rotated one signs too until it expires.

    Until `paused_until` it is left alone after a failure; only test deliveries go to it.
    """

    __tablename__ = "webhooks"
    __table_args__ = (Index("ix_webhooks_list", "organization_id", "created_at", "id"),)

    url: Mapped[str]
    events: Mapped[list[str]] = mapped_column(ARRAY(TEXT))
    description: Mapped[str] = mapped_column(default="")
    active: Mapped[bool] = mapped_column(default=True)
    consecutive_failures: Mapped[int] = mapped_column(default=0)
    disabled_reason: Mapped[str | None]
    last_triggered_at: Mapped[datetime | None]
    last_status_code: Mapped[int | None]
    paused_until: Mapped[datetime | None]
    secret: Mapped[str] = mapped_column(info=encrypted())
    previous_secret: Mapped[str | None] = mapped_column(info=encrypted())
    previous_secret_expires_at: Mapped[datetime | None]


class Delivery(TenantModel, db.Base):
    """One event to one webhook. `body` is sent byte for byte at every attempt.

    `status`: pending while attempts follow (and only then `next_attempt_at` is set); delivered;
    abandoned after the last failed attempt or when the webhook was deactivated; skipped when a
    retry came due of what had been delivered; failed when the service itself could not make the
    attempt. `round` counts redeliveries; the attempts of a round are limited, not those of a
    delivery. `attempt_count` and `attempted_at` are written as an attempt begins, so that one whose
    worker died counts too.
    """

    __tablename__ = "webhook_deliveries"
    __table_args__ = (
        ForeignKeyConstraint(
            ["organization_id", "webhook_id"],
            ["webhooks.organization_id", "webhooks.id"],
            ondelete="CASCADE",
        ),
        Index(
            "uq_webhook_deliveries_event",
            "organization_id",
            "webhook_id",
            "event_id",
            unique=True,
        ),
        Index("ix_webhook_deliveries_list", "organization_id", "webhook_id", "created_at", "id"),
        Index(
            "ix_webhook_deliveries_status",
            "organization_id",
            "webhook_id",
            "status",
            "event",
            "created_at",
            "id",
        ),
        Index(
            "ix_webhook_deliveries_due",
            "webhook_id",
            "next_attempt_at",
            postgresql_where=text("next_attempt_at IS NOT NULL"),
        ),
        Index(
            "ix_webhook_deliveries_due_tests",
            "webhook_id",
            "next_attempt_at",
            postgresql_where=text("next_attempt_at IS NOT NULL AND test"),
        ),
        Index(
            "ix_webhook_deliveries_leased",
            "webhook_id",
            "leased_until",
            postgresql_where=text("leased_until IS NOT NULL"),
        ),
    )

    id: Mapped[UUID] = mapped_column(primary_key=True, default=uuid7)
    webhook_id: Mapped[UUID]
    event_id: Mapped[UUID]
    event: Mapped[str]
    body: Mapped[bytes] = mapped_column(LargeBinary)
    status: Mapped[str] = mapped_column(default="pending")
    test: Mapped[bool] = mapped_column(default=False)
    round: Mapped[int] = mapped_column(default=1)
    attempts_in_round: Mapped[int] = mapped_column(default=0)
    attempt_count: Mapped[int] = mapped_column(default=0)
    attempted_at: Mapped[datetime | None]
    next_attempt_at: Mapped[datetime | None] = mapped_column(server_default=func.now())
    lease_token: Mapped[UUID | None]
    leased_until: Mapped[datetime | None]
    delivered_at: Mapped[datetime | None]
    request_id: Mapped[str | None]
    created_at: Mapped[datetime] = mapped_column(default=db.utc_now)
    updated_at: Mapped[datetime] = mapped_column(default=db.utc_now)


class DeliveryAttempt(TenantModel, db.Base):
    """One attempt: what was answered, or why nothing was."""

    __tablename__ = "webhook_attempts"
    __table_args__ = (
        ForeignKeyConstraint(
            ["organization_id", "delivery_id"],
            ["webhook_deliveries.organization_id", "webhook_deliveries.id"],
            ondelete="CASCADE",
        ),
    )

    delivery_id: Mapped[UUID] = mapped_column(primary_key=True)
    number: Mapped[int] = mapped_column(primary_key=True)
    at: Mapped[datetime] = mapped_column(default=db.utc_now)
    status_code: Mapped[int | None]
    error: Mapped[str | None]
    duration_ms: Mapped[int]
    error_kind: Mapped[str | None]
    response_excerpt: Mapped[str | None]
