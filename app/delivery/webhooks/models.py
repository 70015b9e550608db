"""Models for webhooks, their deliveries, and the attempts at each delivery."""

from datetime import datetime
from enum import StrEnum
from typing import Any
from uuid import UUID

from sqlalchemy import Index, LargeBinary, false, func, text
from sqlalchemy.dialects.postgresql import ARRAY, TEXT
from sqlalchemy.orm import Mapped, mapped_column

from app.kit import db
from app.kit.encryption import build_encryption_info
from app.kit.ids import uuid7
from app.kit.leases import HAS_LEASE, LeaseColumns
from app.kit.tenancy import TenantModel, build_foreign_key


class DeliveryStatus(StrEnum):
    """The status of a delivery.

    PENDING: an attempt will follow; `next_attempt_at` is set only in this status. DELIVERED: the
    response to an attempt was 2xx. FAILED: the service itself could not make the attempt, and a
    retry would fail as well. ABANDONED: the last allowed attempt failed, or the webhook was
    deactivated. SKIPPED: a retry became due after the delivery had succeeded.
    """

    PENDING = "pending"
    DELIVERED = "delivered"
    FAILED = "failed"
    ABANDONED = "abandoned"
    SKIPPED = "skipped"


class Webhook(TenantModel, db.Revised, db.Base):
    """An endpoint to send events to.

    Secrets are encrypted; `previous_secret` also signs deliveries until it expires. Until
    `paused_until`, only retries and test deliveries are sent, because the endpoint has failed.
    `generation` counts deactivations: pending deliveries of an earlier generation are abandoned. A
    webhook with `deleted_at` no longer exists for users; its deliveries are being deleted. `replay`
    is the latest request to replay deliveries, and `replay_state` is the state of the replay job
    (see `replaying`).
    """

    __tablename__ = "webhooks"
    __table_args__ = (
        Index("ix_webhooks_list", "organization_id", "created_at", "id"),
        Index("ix_webhooks_deleted", "deleted_at", postgresql_where=text("deleted_at IS NOT NULL")),
    )

    url: Mapped[str]
    events: Mapped[list[str]] = mapped_column(ARRAY(TEXT))
    description: Mapped[str] = mapped_column(default="")
    active: Mapped[bool] = mapped_column(default=True)
    generation: Mapped[int] = mapped_column(default=0, server_default="0")
    consecutive_failures: Mapped[int] = mapped_column(default=0)
    disabled_reason: Mapped[str | None]
    deactivated_at: Mapped[datetime | None]
    last_triggered_at: Mapped[datetime | None]
    last_status_code: Mapped[int | None]
    paused_until: Mapped[datetime | None]
    secret: Mapped[str] = mapped_column(info=build_encryption_info())
    previous_secret: Mapped[str | None] = mapped_column(info=build_encryption_info())
    previous_secret_expires_at: Mapped[datetime | None]
    deleted_at: Mapped[datetime | None]
    replay: Mapped[dict[str, Any] | None]
    replay_state: Mapped[dict[str, Any] | None]


_PENDING = text("next_attempt_at IS NOT NULL")
_PENDING_RETRY = text("next_attempt_at IS NOT NULL AND attempts_in_round > 0 AND NOT test")
_PENDING_TEST = text("next_attempt_at IS NOT NULL AND test")
_ENDED = text("next_attempt_at IS NULL")
_LEASED = text(HAS_LEASE)


class Delivery(LeaseColumns, TenantModel, db.Base):
    """The delivery of one event to one webhook.

    Every attempt sends the same bytes, `body`. `round` starts at 1, and increases with each
    redelivery or replay; the number of attempts is limited per round. `attempt_count` and
    `attempted_at` are written when an attempt begins, so that an attempt is counted even if its
    worker is killed. `generation` is the webhook's generation when the delivery was created, or
    last redelivered or replayed. A trigger sets it for instances of the previous release, so it is
    never null. If `replayed` is true, the delivery is sent after all other deliveries.
    """

    __tablename__ = "webhook_deliveries"
    __table_args__ = (
        build_foreign_key("webhook_id", "webhooks", ondelete="CASCADE"),
        Index(
            "uq_webhook_deliveries_event", "organization_id", "webhook_id", "event_id", unique=True
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
        # This index finds the organizations and webhooks with pending deliveries, and a webhook's
        # pending deliveries in the order of their attempts.
        Index(
            "ix_webhook_deliveries_order",
            "organization_id",
            "webhook_id",
            "generation",
            "replayed",
            "next_attempt_at",
            postgresql_where=_PENDING,
        ),
        Index(
            "ix_webhook_deliveries_retries",
            "webhook_id",
            "generation",
            "next_attempt_at",
            postgresql_where=_PENDING_RETRY,
        ),
        Index(
            "ix_webhook_deliveries_due_tests",
            "webhook_id",
            "next_attempt_at",
            postgresql_where=_PENDING_TEST,
        ),
        Index(
            "ix_webhook_deliveries_leased", "webhook_id", "leased_until", postgresql_where=_LEASED
        ),
        Index("ix_webhook_deliveries_ended", "updated_at", postgresql_where=_ENDED),
        # This index is used only by instances of the previous release.
        Index(
            "ix_webhook_deliveries_due", "webhook_id", "next_attempt_at", postgresql_where=_PENDING
        ),
    )

    id: Mapped[UUID] = mapped_column(primary_key=True, default=uuid7)
    webhook_id: Mapped[UUID]
    event_id: Mapped[UUID]
    event: Mapped[str]
    body: Mapped[bytes] = mapped_column(LargeBinary)
    status: Mapped[str] = mapped_column(default=DeliveryStatus.PENDING.value)
    test: Mapped[bool] = mapped_column(default=False)
    replayed: Mapped[bool] = mapped_column(default=False, server_default=false())
    generation: Mapped[int | None]
    round: Mapped[int] = mapped_column(default=1)
    attempts_in_round: Mapped[int] = mapped_column(default=0)
    attempt_count: Mapped[int] = mapped_column(default=0)
    attempted_at: Mapped[datetime | None]
    next_attempt_at: Mapped[datetime | None] = mapped_column(server_default=func.now())
    delivered_at: Mapped[datetime | None]
    request_id: Mapped[str | None]
    created_at: Mapped[datetime] = mapped_column(default=db.utc_now)
    updated_at: Mapped[datetime] = mapped_column(default=db.utc_now)


class DeliveryAttempt(TenantModel, db.Base):
    """One attempt at a delivery: the response, or the reason why there is none."""

    __tablename__ = "webhook_attempts"
    __table_args__ = (build_foreign_key("delivery_id", "webhook_deliveries", ondelete="CASCADE"),)

    delivery_id: Mapped[UUID] = mapped_column(primary_key=True)
    number: Mapped[int] = mapped_column(primary_key=True)
    at: Mapped[datetime] = mapped_column(default=db.utc_now)
    status_code: Mapped[int | None]
    error: Mapped[str | None]
    duration_ms: Mapped[int]
    error_kind: Mapped[str | None]
    response_excerpt: Mapped[str | None]
