"""API keys."""

revision = "202611211030"
down_revision = "202611211020"
branch_labels = None
depends_on = None


def upgrade() -> None:
    pass


def downgrade() -> None:
    pass
