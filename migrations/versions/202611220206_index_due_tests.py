"""Index due test deliveries."""

import sqlalchemy as sa

from migrations import live

revision = "202611220206"
down_revision = "202611220205"
branch_labels = None
depends_on = None


def upgrade() -> None:
    # Test deliveries are sent although the webhook is paused, and must be found in a long backlog.
    live.create_index(
        "ix_webhook_deliveries_due_tests",
        "webhook_deliveries",
        ["webhook_id", "next_attempt_at"],
        postgresql_where=sa.text("next_attempt_at IS NOT NULL AND test"),
    )


def downgrade() -> None:
    live.drop_index("ix_webhook_deliveries_due_tests")
