"""Count the existing outcomes, and order replayed deliveries after all others."""

import sqlalchemy as sa

from migrations import live

revision = "202612010201"
down_revision = "202612010200"
branch_labels = None
depends_on = None

DELIVERIES = "webhook_deliveries"
PENDING = sa.text("next_attempt_at IS NOT NULL")
WEBHOOK = ["organization_id", "webhook_id", "generation"]


def upgrade() -> None:
    live.recount("delivery_outcomes")
    live.create_index(
        "ix_webhook_deliveries_order",
        DELIVERIES,
        [*WEBHOOK, "replayed", "next_attempt_at"],
        postgresql_where=PENDING,
    )
    # Instances of the previous release use the other index, and ix_webhook_deliveries_due.
    live.drop_index("ix_webhook_deliveries_turns")


def downgrade() -> None:
    live.create_index(
        "ix_webhook_deliveries_turns",
        DELIVERIES,
        [*WEBHOOK, "next_attempt_at"],
        postgresql_where=PENDING,
    )
    live.drop_index("ix_webhook_deliveries_order")
