"""Add replays of webhooks: record missed deliveries, send them last, and count them by hour."""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

from migrations.auditing import audited
from migrations.counting import Cube, Source, as_hour, as_text, counted, uncounted

revision = "202612010200"
down_revision = "202612010101"
branch_labels = None
depends_on = None

# Deliveries change these columns; the attempts of deliveries are recorded separately.
_IGNORED = (
    *("last_triggered_at", "last_status_code", "consecutive_failures", "paused_until"),
    "generation",
)
# The first is set together with the status of the webhook; the second changes with every batch of a
# running replay.
_NEW_IGNORED = ("deactivated_at", "replay_state")

OUTCOMES = Source(
    "delivery_outcomes",
    {
        "webhook_id": as_text("r.webhook_id"),
        "status": "r.status",
        "created": as_hour("r.created_at"),
    },
    (
        Cube(
            "delivery_outcomes.created.hour",
            ("status",),
            key="webhook_id",
            bucket="created",
            length=13,
        ),
    ),
    condition="r.status <> 'pending' AND NOT r.test",
)


def upgrade() -> None:
    op.add_column(
        "webhooks", sa.Column("deactivated_at", sa.DateTime(timezone=True), nullable=True)
    )
    op.add_column("webhooks", sa.Column("replay", postgresql.JSONB(), nullable=True))
    op.add_column("webhooks", sa.Column("replay_state", postgresql.JSONB(), nullable=True))
    op.add_column(
        "webhook_deliveries",
        sa.Column("replayed", sa.Boolean(), server_default=sa.false(), nullable=False),
    )
    counted("webhook_deliveries", OUTCOMES)
    audited("webhooks", label="url", ignored=(*_IGNORED, *_NEW_IGNORED))


def downgrade() -> None:
    audited("webhooks", label="url", ignored=_IGNORED)
    uncounted("delivery_outcomes")
    op.drop_column("webhook_deliveries", "replayed")
    for column in ("replay_state", "replay", "deactivated_at"):
        op.drop_column("webhooks", column)
