"""Mark the documents whose pages are images as not recognized, so that they can be found."""

import sqlalchemy as sa

from migrations import live

revision = "202611300101"
down_revision = "202611300100"
branch_labels = None
depends_on = None

FILL = """
UPDATE artifacts SET ocr = 'off', has_text_layer = false
FROM batch b WHERE artifacts.organization_id = b.organization_id AND artifacts.id = b.id
"""
UNREAD = (
    "ocr = 'none' AND has_text_layer IS NULL AND page_count IS NOT NULL"
    " AND text_length <= page_count - 1"
)


def upgrade() -> None:
    live.backfill("artifacts", FILL, pending=UNREAD)
    live.create_index(
        "ix_artifacts_ocr",
        "artifacts",
        ["organization_id", "archived", "ocr", "created_at", "id"],
        postgresql_where=sa.text("ocr <> 'none'"),
    )
    live.recount("scanned")


def downgrade() -> None:
    live.drop_index("ix_artifacts_ocr")
