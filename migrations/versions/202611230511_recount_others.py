"""Count the existing audit entries, deliveries, members and teams."""

from migrations import live

revision = "202611230511"
down_revision = "202611230510"
branch_labels = None
depends_on = None


def upgrade() -> None:
    live.recount("audit", "deliveries", "members", "teams")


def downgrade() -> None:
    pass
