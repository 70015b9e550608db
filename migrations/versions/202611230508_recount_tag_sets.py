"""Count the existing tag sets, reviews and decisions."""

from migrations import live

revision = "202611230508"
down_revision = "202611230507"
branch_labels = None
depends_on = None


def upgrade() -> None:
    live.recount("tag_sets", "labeling_seconds", "reviews", "work")


def downgrade() -> None:
    pass
