"""What the operator decides of an organization; billing periods."""

revision = "202611211100"
down_revision = "202611211050"
branch_labels = None
depends_on = None


def upgrade() -> None:
    pass


def downgrade() -> None:
    pass
