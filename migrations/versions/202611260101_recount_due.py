"""Count the existing open documents with a due date."""

from migrations import live

revision = "202611260101"
down_revision = "202611260100"
branch_labels = None
depends_on = None


def upgrade() -> None:
    live.recount("due")


def downgrade() -> None:
    pass
