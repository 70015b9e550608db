"""Add indexes for the lists of audit entries and deliveries, with any filter."""

from migrations import live

revision = "202611230509"
down_revision = "202611230508"
branch_labels = None
depends_on = None


def upgrade() -> None:
    live.create_index(
        "ix_audit_entries_action",
        "audit_entries",
        ["organization_id", "action", "actor_kind", "at", "id"],
    )
    live.create_index(
        "ix_webhook_deliveries_status",
        "webhook_deliveries",
        ["organization_id", "webhook_id", "status", "event", "created_at", "id"],
    )


def downgrade() -> None:
    live.drop_index("ix_webhook_deliveries_status")
    live.drop_index("ix_audit_entries_action")
