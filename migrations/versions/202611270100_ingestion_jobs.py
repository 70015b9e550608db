"""Add ingestion jobs and their items."""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

from migrations.auditing import audited, unaudited
from migrations.policies import protect

revision = "202611270100"
down_revision = "202611270050"
branch_labels = None
depends_on = None

JOBS, ITEMS = "ingestion_jobs", "ingestion_items"
# A running job changes these columns with every batch.
_IGNORED = (
    *("total", "found", "created", "duplicate", "skipped", "failed"),
    *("next_offset", "next_number", "retried_until", "source_key"),
)


def upgrade() -> None:
    _create_jobs()
    _create_items()
    for table in (JOBS, ITEMS):
        protect(table)
    audited(JOBS, label="name", ignored=_IGNORED)


def _create_jobs() -> None:
    op.create_table(
        JOBS,
        sa.Column("organization_id", sa.Uuid(), nullable=False),
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("kind", sa.String(), nullable=False),
        sa.Column("name", sa.String(), nullable=False),
        sa.Column("format", sa.String(), nullable=True),
        sa.Column("options", postgresql.JSONB(), nullable=False),
        sa.Column("connector_id", sa.Uuid(), nullable=True),
        sa.Column("status", sa.String(), nullable=False),
        sa.Column("total", sa.Integer(), nullable=True),
        sa.Column("found", sa.Integer(), nullable=False),
        sa.Column("created", sa.Integer(), nullable=False),
        sa.Column("duplicate", sa.Integer(), nullable=False),
        sa.Column("skipped", sa.Integer(), nullable=False),
        sa.Column("failed", sa.Integer(), nullable=False),
        sa.Column("size_bytes", sa.BigInteger(), nullable=True),
        sa.Column("source_key", sa.String(), nullable=True),
        sa.Column("next_offset", sa.BigInteger(), nullable=False),
        sa.Column("next_number", sa.Integer(), nullable=False),
        sa.Column("retried_until", sa.Integer(), nullable=False),
        sa.Column("error", postgresql.JSONB(), nullable=True),
        sa.Column("created_by", sa.Uuid(), nullable=True),
        sa.Column("started_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("finished_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("updated_at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(["created_by"], ["users.id"], name=f"fk_{JOBS}_created_by"),
        sa.ForeignKeyConstraint(
            ["organization_id"],
            ["organizations.id"],
            name=f"fk_{JOBS}_organization_id",
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("organization_id", "id", name=f"pk_{JOBS}"),
    )
    op.create_index(f"ix_{JOBS}_list", JOBS, ["organization_id", "created_at", "id"])
    op.create_index(f"ix_{JOBS}_status", JOBS, ["organization_id", "status", "created_at", "id"])
    op.create_index(
        f"ix_{JOBS}_sources",
        JOBS,
        ["finished_at"],
        postgresql_where=sa.text("source_key IS NOT NULL"),
    )


def _create_items() -> None:
    op.create_table(
        ITEMS,
        sa.Column("organization_id", sa.Uuid(), nullable=False),
        sa.Column("job_id", sa.Uuid(), nullable=False),
        sa.Column("number", sa.Integer(), nullable=False),
        sa.Column("uri", sa.String(), nullable=False),
        sa.Column("status", sa.String(), nullable=False),
        sa.Column("artifact_id", sa.Uuid(), nullable=True),
        sa.Column("error", postgresql.JSONB(), nullable=True),
        sa.Column("seconds", sa.Float(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(
            ["organization_id"],
            ["organizations.id"],
            name=f"fk_{ITEMS}_organization_id",
            ondelete="CASCADE",
        ),
        sa.ForeignKeyConstraint(
            ["organization_id", "job_id"],
            ["ingestion_jobs.organization_id", "ingestion_jobs.id"],
            name=f"fk_{ITEMS}_organization_id_job_id",
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("organization_id", "job_id", "number", name=f"pk_{ITEMS}"),
    )
    op.create_index(f"ix_{ITEMS}_status", ITEMS, ["organization_id", "job_id", "status", "number"])


def downgrade() -> None:
    unaudited(JOBS)
    op.drop_table(ITEMS)
    op.drop_table(JOBS)
