"""Accounts: canonical addresses, slowed log-ins, mailed tokens."""

revision = "202611211010"
down_revision = "202611211000"
branch_labels = None
depends_on = None


def upgrade() -> None:
    pass


def downgrade() -> None:
    pass
