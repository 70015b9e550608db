"""Add indexes to find deliveries by organization in turn, retries in time, and old rows."""

import sqlalchemy as sa

from migrations import live

revision = "202611230705"
down_revision = "202611230700"
branch_labels = None
depends_on = None

DELIVERIES = "webhook_deliveries"


def upgrade() -> None:
    live.create_index(
        "ix_webhook_deliveries_turns",
        DELIVERIES,
        ["organization_id", "webhook_id", "generation", "next_attempt_at"],
        postgresql_where=sa.text("next_attempt_at IS NOT NULL"),
    )
    # Retries do not wait until the pause of their webhook ends, and must be found in a long
    # backlog.
    live.create_index(
        "ix_webhook_deliveries_retries",
        DELIVERIES,
        ["webhook_id", "generation", "next_attempt_at"],
        postgresql_where=sa.text("next_attempt_at IS NOT NULL AND attempts_in_round > 0 AND NOT test"),
    )
    live.create_index(
        "ix_webhook_deliveries_ended",
        DELIVERIES,
        ["updated_at"],
        postgresql_where=sa.text("next_attempt_at IS NULL"),
    )
    live.create_index(
        "ix_webhooks_deleted",
        "webhooks",
        ["deleted_at"],
        postgresql_where=sa.text("deleted_at IS NOT NULL"),
    )


def downgrade() -> None:
    live.drop_index("ix_webhooks_deleted")
    live.drop_index("ix_webhook_deliveries_ended")
    live.drop_index("ix_webhook_deliveries_retries")
    live.drop_index("ix_webhook_deliveries_turns")
