"""Count the existing documents and their assignments."""

from migrations import live

revision = "202611230504"
down_revision = "202611230503"
branch_labels = None
depends_on = None


def upgrade() -> None:
    live.recount("artifacts", "assigned", "offered")


def downgrade() -> None:
    pass
