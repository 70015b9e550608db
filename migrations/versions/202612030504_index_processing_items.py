"""Index the items of ingestion jobs that wait for a document."""

import sqlalchemy as sa

from migrations import live

revision = "202612030504"
down_revision = "202612030503"
branch_labels = None
depends_on = None


def upgrade() -> None:
    live.create_index(
        "ix_ingestion_items_processing",
        "ingestion_items",
        ["organization_id", "artifact_id"],
        postgresql_where=sa.text("status = 'processing'"),
    )


def downgrade() -> None:
    live.drop_index("ix_ingestion_items_processing")
