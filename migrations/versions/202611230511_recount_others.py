"""Count the entries, deliveries, members and teams of before."""

from migrations import live

revision = "202611230511"
down_revision = "202611230510"
branch_labels = None
depends_on = None


def upgrade() -> None:
    live.recount("audit", "deliveries", "members", "teams")


def downgrade() -> None:
    pass
