"""Add scheduled exports and their runs."""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

from migrations.auditing import audited, unaudited
from migrations.policies import protect

revision = "202612010302"
down_revision = "202612010301"
branch_labels = None
depends_on = None

SCHEDULED, RUNS = "scheduled_exports", "scheduled_export_runs"


def upgrade() -> None:
    _create_scheduled_exports()
    _create_runs()
    for table in (SCHEDULED, RUNS):
        protect(table)
    audited(SCHEDULED, label="name", ignored=("next_run_at", "exported_until"))


def _create_scheduled_exports() -> None:
    op.create_table(
        SCHEDULED,
        sa.Column("organization_id", sa.Uuid(), nullable=False),
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("name", sa.String(), nullable=False),
        sa.Column("format", sa.String(), nullable=False),
        sa.Column("filter", postgresql.JSONB(), nullable=False),
        sa.Column("options", postgresql.JSONB(), nullable=False),
        sa.Column("include", postgresql.JSONB(), nullable=False),
        sa.Column("cron", sa.String(), nullable=False),
        sa.Column("time_zone", sa.String(), nullable=False),
        sa.Column("mode", sa.String(), nullable=False),
        sa.Column("destination", sa.String(), nullable=False),
        sa.Column("settings", postgresql.JSONB(), nullable=False),
        sa.Column("credentials", sa.String(), nullable=True),
        sa.Column("stored_secrets", postgresql.ARRAY(sa.Text()), nullable=False),
        sa.Column("paused", sa.Boolean(), nullable=False),
        sa.Column("next_run_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("exported_until", sa.DateTime(timezone=True), nullable=True),
        sa.Column("created_by", sa.Uuid(), nullable=True),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("updated_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("revision", sa.Integer(), nullable=False),
        sa.ForeignKeyConstraint(["created_by"], ["users.id"], name=f"fk_{SCHEDULED}_created_by"),
        _reference_organization(SCHEDULED),
        sa.PrimaryKeyConstraint("organization_id", "id", name=f"pk_{SCHEDULED}"),
    )
    op.create_index(f"ix_{SCHEDULED}_list", SCHEDULED, ["organization_id", "created_at", "id"])
    op.create_index(
        f"ix_{SCHEDULED}_due",
        SCHEDULED,
        ["next_run_at"],
        postgresql_where=sa.text("next_run_at IS NOT NULL"),
    )


def _create_runs() -> None:
    op.create_table(
        RUNS,
        sa.Column("organization_id", sa.Uuid(), nullable=False),
        sa.Column("job_id", sa.Uuid(), nullable=False),
        sa.Column("scheduled_export_id", sa.Uuid(), nullable=False),
        sa.Column("trigger", sa.String(), nullable=False),
        sa.Column("due_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("covers_from", sa.DateTime(timezone=True), nullable=True),
        sa.Column("covers_until", sa.DateTime(timezone=True), nullable=True),
        sa.Column("delivery_status", sa.String(), nullable=False),
        sa.Column("delivery_error", postgresql.JSONB(none_as_null=True), nullable=True),
        sa.Column("delivered_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("delivered_to", sa.String(), nullable=True),
        sa.Column("sent_bytes", sa.BigInteger(), nullable=False),
        sa.Column(
            "created_at", sa.DateTime(timezone=True), server_default=sa.func.now(), nullable=False
        ),
        _reference_organization(RUNS),
        sa.ForeignKeyConstraint(
            ["organization_id", "scheduled_export_id"],
            [f"{SCHEDULED}.organization_id", f"{SCHEDULED}.id"],
            name=f"fk_{RUNS}_organization_id_scheduled_export_id",
            ondelete="CASCADE",
        ),
        sa.ForeignKeyConstraint(
            ["organization_id", "job_id"],
            ["exports.organization_id", "exports.id"],
            name=f"fk_{RUNS}_organization_id_job_id",
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("organization_id", "job_id", name=f"pk_{RUNS}"),
    )
    columns = ["organization_id", "scheduled_export_id"]
    op.create_index(f"ix_{RUNS}_list", RUNS, [*columns, "created_at", "job_id"])
    # Exactly one run for each due time.
    op.create_index(
        f"uq_{RUNS}_due",
        RUNS,
        [*columns, "due_at"],
        unique=True,
        postgresql_where=sa.text("due_at IS NOT NULL"),
    )
    op.create_index(
        f"ix_{RUNS}_pending",
        RUNS,
        columns,
        postgresql_where=sa.text("delivery_status = 'pending'"),
    )


def _reference_organization(table: str) -> sa.ForeignKeyConstraint:
    return sa.ForeignKeyConstraint(
        ["organization_id"],
        ["organizations.id"],
        name=f"fk_{table}_organization_id",
        ondelete="CASCADE",
    )


def downgrade() -> None:
    unaudited(SCHEDULED)
    op.drop_table(RUNS)
    op.drop_table(SCHEDULED)
