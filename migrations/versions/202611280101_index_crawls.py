"""Index ingestion jobs by connector, and allow only one unfinished crawl per connector."""

import sqlalchemy as sa

from migrations import live

revision = "202611280101"
down_revision = "202611280100"
branch_labels = None
depends_on = None


def upgrade() -> None:
    live.create_index(
        "uq_ingestion_jobs_crawl",
        "ingestion_jobs",
        ["organization_id", "connector_id"],
        unique=True,
        postgresql_where=sa.text("kind = 'crawl' AND status IN ('queued', 'running')"),
    )
    live.create_index(
        "ix_ingestion_jobs_connector",
        "ingestion_jobs",
        ["organization_id", "connector_id", "created_at", "id"],
        postgresql_where=sa.text("connector_id IS NOT NULL"),
    )


def downgrade() -> None:
    live.drop_index("ix_ingestion_jobs_connector")
    live.drop_index("uq_ingestion_jobs_crawl")
