"""The audit log: entries written by triggers, append-only for the application."""

revision = "202611211000"
down_revision = "202611210700"
branch_labels = None
depends_on = None


def upgrade() -> None:
    pass


def downgrade() -> None:
    pass
