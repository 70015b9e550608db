"""Add quality runs, and the disagreements of labelers by document and field."""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

from migrations.auditing import audited, unaudited
from migrations.counting import Cube, Source, as_text, counted, uncounted
from migrations.policies import protect

revision = "202612020701"
down_revision = "202612020601"
branch_labels = None
depends_on = None

RUNS, DISAGREEMENTS = "quality_runs", "quality_disagreements"
COUNTED = Source(
    DISAGREEMENTS,
    {"schema_id": as_text("r.schema_id"), "field": "r.field"},
    (
        Cube(DISAGREEMENTS, ("schema_id",)),
        Cube(f"{DISAGREEMENTS}.field", ("field",), key="schema_id"),
    ),
)


def upgrade() -> None:
    _create_runs()
    _create_disagreements()
    for table in (RUNS, DISAGREEMENTS):
        protect(table)
    # Results are derived from tag sets, so the log only records who computed what.
    audited(
        RUNS,
        ignored=("progress_done", "progress_total", "results", "pairs", "confusions", "warnings"),
    )
    counted(DISAGREEMENTS, COUNTED)


def _create_runs() -> None:
    op.create_table(
        RUNS,
        sa.Column("organization_id", sa.Uuid(), nullable=False),
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("schema_id", sa.Uuid(), nullable=False),
        sa.Column("fields", postgresql.JSONB(), nullable=False),
        sa.Column("metrics", postgresql.JSONB(), nullable=False),
        sa.Column("starts_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("ends_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("status", sa.String(), nullable=False),
        sa.Column("progress_done", sa.Integer(), nullable=False),
        sa.Column("progress_total", sa.Integer(), nullable=True),
        sa.Column("results", postgresql.JSONB(), nullable=False),
        sa.Column("pairs", postgresql.JSONB(), nullable=False),
        sa.Column("confusions", postgresql.JSONB(), nullable=False),
        sa.Column("warnings", postgresql.JSONB(), nullable=False),
        sa.Column("error", postgresql.JSONB(none_as_null=True), nullable=True),
        sa.Column("created_by", sa.Uuid(), nullable=True),
        sa.Column("started_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("finished_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("updated_at", sa.DateTime(timezone=True), nullable=False),
        _reference_organization(RUNS),
        _reference_schema(RUNS),
        sa.ForeignKeyConstraint(["created_by"], ["users.id"], name=f"fk_{RUNS}_created_by"),
        sa.PrimaryKeyConstraint("organization_id", "id", name=f"pk_{RUNS}"),
    )
    op.create_index(f"ix_{RUNS}_list", RUNS, ["organization_id", "created_at", "id"])
    op.create_index(
        f"ix_{RUNS}_newest", RUNS, ["organization_id", "schema_id", "status", "finished_at", "id"]
    )
    op.create_index(f"ix_{RUNS}_age", RUNS, ["created_at"])


def _create_disagreements() -> None:
    op.create_table(
        DISAGREEMENTS,
        sa.Column("organization_id", sa.Uuid(), nullable=False),
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("artifact_id", sa.Uuid(), nullable=False),
        sa.Column("schema_id", sa.Uuid(), nullable=False),
        sa.Column("field", sa.String(), nullable=False),
        sa.Column("share", sa.Integer(), nullable=False),
        sa.Column("raters", sa.Integer(), nullable=False),
        sa.Column("answers", postgresql.JSONB(), nullable=False),
        sa.Column("compared_at", sa.DateTime(timezone=True), nullable=False),
        _reference_organization(DISAGREEMENTS),
        _reference_schema(DISAGREEMENTS),
        # The disagreements of a document are deleted together with the document.
        sa.ForeignKeyConstraint(
            ["organization_id", "artifact_id"],
            ["artifacts.organization_id", "artifacts.id"],
            name=f"fk_{DISAGREEMENTS}_organization_id_artifact_id",
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("organization_id", "id", name=f"pk_{DISAGREEMENTS}"),
        sa.UniqueConstraint(
            "organization_id", "artifact_id", "schema_id", "field", name=f"uq_{DISAGREEMENTS}_place"
        ),
    )
    columns = ["organization_id", "schema_id"]
    order = ["share", "id"]
    op.create_index(f"ix_{DISAGREEMENTS}_list", DISAGREEMENTS, ["organization_id", *order])
    op.create_index(f"ix_{DISAGREEMENTS}_schema", DISAGREEMENTS, [*columns, *order])
    op.create_index(f"ix_{DISAGREEMENTS}_field", DISAGREEMENTS, [*columns, "field", *order])


def _reference_organization(table: str) -> sa.ForeignKeyConstraint:
    return sa.ForeignKeyConstraint(
        ["organization_id"],
        ["organizations.id"],
        name=f"fk_{table}_organization_id",
        ondelete="CASCADE",
    )


def _reference_schema(table: str) -> sa.ForeignKeyConstraint:
    return sa.ForeignKeyConstraint(
        ["organization_id", "schema_id"],
        ["schemas.organization_id", "schemas.id"],
        name=f"fk_{table}_organization_id_schema_id",
        ondelete="CASCADE",
    )


def downgrade() -> None:
    uncounted(DISAGREEMENTS)
    unaudited(RUNS)
    op.drop_table(DISAGREEMENTS)
    op.drop_table(RUNS)
