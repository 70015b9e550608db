"""How long a webhook is left alone after a failure."""

import sqlalchemy as sa
from alembic import op

from migrations.auditing import audited

revision = "202611220205"
down_revision = "202611220200"
branch_labels = None
depends_on = None

# What deliveries leave behind has a trail of its own: their attempts.
_IGNORED = ("last_triggered_at", "last_status_code", "consecutive_failures")


def upgrade() -> None:
    op.add_column("webhooks", sa.Column("paused_until", sa.DateTime(timezone=True), nullable=True))
    # A paused webhook still gets its tests, which are to be found among a long backlog. Few rows
    # are in it; only background work waits while it is built.
    op.create_index(
        "ix_webhook_deliveries_due_tests",
        "webhook_deliveries",
        ["webhook_id", "next_attempt_at"],
        postgresql_where=sa.text("next_attempt_at IS NOT NULL AND test"),
    )
    audited("webhooks", label="url", ignored=(*_IGNORED, "paused_until"))


def downgrade() -> None:
    audited("webhooks", label="url", ignored=_IGNORED)
    op.drop_index("ix_webhook_deliveries_due_tests", table_name="webhook_deliveries")
    op.drop_column("webhooks", "paused_until")
