"""Index started drafts by the end of their reservation."""

import sqlalchemy as sa

from migrations import live

revision = "202611231121"
down_revision = "202611231120"
branch_labels = None
depends_on = None


def upgrade() -> None:
    live.create_index(
        "ix_tag_sets_reserved",
        "tag_sets",
        ["reserved_until"],
        postgresql_where=sa.text("status = 'draft' AND reserved_until IS NOT NULL"),
    )


def downgrade() -> None:
    live.drop_index("ix_tag_sets_reserved")
