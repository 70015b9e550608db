"""Count the existing ingestion jobs, and index them by kind."""

from migrations import live

revision = "202611280201"
down_revision = "202611280200"
branch_labels = None
depends_on = None


def upgrade() -> None:
    live.recount("ingestion_jobs")
    live.create_index(
        "ix_ingestion_jobs_kind",
        "ingestion_jobs",
        ["organization_id", "kind", "created_at", "id"],
    )


def downgrade() -> None:
    live.drop_index("ix_ingestion_jobs_kind")
