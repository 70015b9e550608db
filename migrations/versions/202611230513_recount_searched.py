"""Count the existing searchable documents."""

from migrations import live

revision = "202611230513"
down_revision = "202611230512"
branch_labels = None
depends_on = None


def upgrade() -> None:
    live.recount("searched")


def downgrade() -> None:
    pass
