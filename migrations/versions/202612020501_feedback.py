"""Add feedback on predictions, counted by model, field, day and confidence."""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

from migrations.counting import Cube, Source, as_text, counted, uncounted
from migrations.policies import protect

revision = "202612020501"
down_revision = "202612020401"
branch_labels = None
depends_on = None

FEEDBACK, DOCUMENTS = "prediction_feedback", "feedback_documents"

STATE = {"schema_id": as_text("r.schema_id"), "model": "r.model", "field": "r.field"}
# Buckets compare as hours; all feedback of a day is in its first hour.
DAY = "to_char(r.day, 'YYYY-MM-DD') || 'T00'"
MORE = {"labeler_id": as_text("r.labeler_id"), "day": DAY}


def _build_cubes(source: str, facets: tuple[str, ...]) -> tuple[Cube, ...]:
    return (
        Cube(source, facets),
        Cube(f"{source}.month", facets, bucket="day", length=7),
        Cube(f"{source}.day", facets, bucket="day", length=10),
        Cube(f"{source}.labeler", facets, key="labeler_id"),
        Cube(f"{source}.labeler.month", facets, key="labeler_id", bucket="day", length=7),
        Cube(f"{source}.labeler.day", facets, key="labeler_id", bucket="day", length=10),
    )


OUTCOMES = Source(
    "feedback",
    {**STATE, "outcome": "r.outcome", **MORE},
    _build_cubes("feedback", (*STATE, "outcome")),
)
CONFIDENCES = Source(
    "feedback_confidence",
    {**STATE, "bin": as_text("r.bin"), "correct": as_text("r.outcome = 'correct'"), **MORE},
    _build_cubes("feedback_confidence", (*STATE, "bin", "correct")),
    condition="r.bin IS NOT NULL",
    measure="r.confidence",
)


def upgrade() -> None:
    _create_feedback()
    _create_documents()
    for table in (FEEDBACK, DOCUMENTS):
        protect(table)
    counted(FEEDBACK, OUTCOMES, CONFIDENCES)


def _create_feedback() -> None:
    op.create_table(
        FEEDBACK,
        sa.Column("organization_id", sa.Uuid(), nullable=False),
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("artifact_id", sa.Uuid(), nullable=False),
        sa.Column("schema_id", sa.Uuid(), nullable=False),
        sa.Column("field", sa.String(), nullable=False),
        sa.Column("row", sa.Integer(), nullable=True),
        sa.Column("model", sa.String(), nullable=False),
        sa.Column("outcome", sa.String(), nullable=False),
        sa.Column("predicted", postgresql.JSONB(none_as_null=True), nullable=True),
        sa.Column("correct", postgresql.JSONB(none_as_null=True), nullable=True),
        sa.Column("confidence", sa.Integer(), nullable=True),
        sa.Column("bin", sa.SmallInteger(), nullable=True),
        sa.Column("tag_set_id", sa.Uuid(), nullable=True),
        sa.Column("labeler_id", sa.Uuid(), nullable=True),
        sa.Column("day", sa.Date(), nullable=False),
        sa.Column("accepted_revision", sa.Integer(), nullable=True),
        sa.Column("position", sa.Integer(), nullable=True),
        sa.Column("value_key", sa.String(), nullable=True),
        sa.Column("recorded_by", sa.Uuid(), nullable=True),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        _reference_organization(FEEDBACK),
        _reference_artifact(FEEDBACK),
        _reference_schema(FEEDBACK),
        sa.ForeignKeyConstraint(
            ["organization_id", "tag_set_id"],
            ["tag_sets.organization_id", "tag_sets.id"],
            name=f"fk_{FEEDBACK}_organization_id_tag_set_id",
            ondelete="CASCADE",
        ),
        sa.ForeignKeyConstraint(["labeler_id"], ["users.id"], name=f"fk_{FEEDBACK}_labeler_id"),
        sa.ForeignKeyConstraint(["recorded_by"], ["users.id"], name=f"fk_{FEEDBACK}_recorded_by"),
        sa.PrimaryKeyConstraint("organization_id", "id", name=f"pk_{FEEDBACK}"),
    )
    of_document = ["organization_id", "artifact_id", "model"]
    op.create_index(f"ix_{FEEDBACK}_document", FEEDBACK, of_document)
    op.create_index(
        f"ix_{FEEDBACK}_model", FEEDBACK, ["organization_id", "schema_id", "model", "day"]
    )
    # Each comparison of an accepted tag set is stored once. The index includes reported rows, which
    # have no position, because the deletion of a tag set must find them, too.
    op.create_index(
        f"uq_{FEEDBACK}_tag_set",
        FEEDBACK,
        ["organization_id", "tag_set_id", "position"],
        unique=True,
    )
    op.create_index(
        f"uq_{FEEDBACK}_reported",
        FEEDBACK,
        [*of_document, "field", "row", "value_key"],
        unique=True,
        postgresql_nulls_not_distinct=True,
        postgresql_where=sa.text("position IS NULL"),
    )


def _create_documents() -> None:
    op.create_table(
        DOCUMENTS,
        sa.Column("organization_id", sa.Uuid(), nullable=False),
        sa.Column("schema_id", sa.Uuid(), nullable=False),
        sa.Column("artifact_id", sa.Uuid(), nullable=False),
        sa.Column("model", sa.String(), nullable=False),
        sa.Column("correct", sa.Integer(), nullable=False),
        sa.Column("corrected", sa.Integer(), nullable=False),
        sa.Column("missed", sa.Integer(), nullable=False),
        sa.Column("spurious", sa.Integer(), nullable=False),
        sa.Column("shared", sa.Boolean(), nullable=False),
        _reference_organization(DOCUMENTS),
        _reference_artifact(DOCUMENTS),
        _reference_schema(DOCUMENTS),
        sa.PrimaryKeyConstraint(
            "organization_id", "artifact_id", "schema_id", "model", name=f"pk_{DOCUMENTS}"
        ),
    )
    op.create_index(f"ix_{DOCUMENTS}_schema", DOCUMENTS, ["organization_id", "schema_id"])
    op.create_index(
        f"ix_{DOCUMENTS}_shared",
        DOCUMENTS,
        ["organization_id", "schema_id", "model", "artifact_id"],
        postgresql_where=sa.text("shared"),
    )


def _reference_organization(table: str) -> sa.ForeignKeyConstraint:
    return sa.ForeignKeyConstraint(
        ["organization_id"],
        ["organizations.id"],
        name=f"fk_{table}_organization_id",
        ondelete="CASCADE",
    )


def _reference_artifact(table: str) -> sa.ForeignKeyConstraint:
    return sa.ForeignKeyConstraint(
        ["organization_id", "artifact_id"],
        ["artifacts.organization_id", "artifacts.id"],
        name=f"fk_{table}_organization_id_artifact_id",
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
    uncounted("feedback", "feedback_confidence")
    op.drop_table(DOCUMENTS)
    op.drop_table(FEEDBACK)
