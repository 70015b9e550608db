"""Add predictions, trained extraction models, and the prediction that a draft started from."""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

from migrations.auditing import audited, unaudited
from migrations.policies import protect

revision = "202612020401"
down_revision = "202612010302"
branch_labels = None
depends_on = None

PREDICTIONS, MODELS = "predictions", "extraction_models"
_IGNORED = (
    *("claim_expires_at", "label_counts", "labeled_by", "reserved_for"),
    *("ingested_at", "routing_since", "nearly_due"),
)


def upgrade() -> None:
    op.add_column("artifacts", sa.Column("prediction", postgresql.JSONB(), nullable=True))
    op.add_column("tag_sets", sa.Column("prediction_id", sa.Uuid(), nullable=True))
    op.add_column("tag_sets", sa.Column("prediction_model_version", sa.String(), nullable=True))
    audited("artifacts", label="name", ignored=(*_IGNORED, "prediction"))
    _create_predictions()
    _create_models()
    for table in (PREDICTIONS, MODELS):
        protect(table)
    ignored = ("content", "mac", "report", "artifact_ids")
    audited(MODELS, label="version", ignored=ignored)


def _create_predictions() -> None:
    op.create_table(
        PREDICTIONS,
        sa.Column("organization_id", sa.Uuid(), nullable=False),
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("artifact_id", sa.Uuid(), nullable=False),
        sa.Column("schema_id", sa.Uuid(), nullable=False),
        sa.Column("schema_version_id", sa.Uuid(), nullable=False),
        sa.Column("status", sa.String(), nullable=False),
        sa.Column("model", sa.String(), nullable=True),
        sa.Column("model_version", sa.String(), nullable=True),
        sa.Column("tags", postgresql.JSONB(), nullable=False),
        sa.Column("error", postgresql.JSONB(none_as_null=True), nullable=True),
        sa.Column("pages", sa.Integer(), nullable=False),
        sa.Column("prompt_tokens", sa.Integer(), nullable=False),
        sa.Column("completion_tokens", sa.Integer(), nullable=False),
        sa.Column("ingestion_job_id", sa.Uuid(), nullable=True),
        sa.Column("requested_by", sa.Uuid(), nullable=True),
        sa.Column("completed_at", sa.DateTime(timezone=True), nullable=True),
        *_build_times(),
        _reference_organization(PREDICTIONS),
        sa.ForeignKeyConstraint(
            ["organization_id", "artifact_id"],
            ["artifacts.organization_id", "artifacts.id"],
            name=f"fk_{PREDICTIONS}_organization_id_artifact_id",
            ondelete="CASCADE",
        ),
        *_reference_schema(PREDICTIONS),
        sa.ForeignKeyConstraint(["requested_by"], ["users.id"], name="fk_predictions_requested_by"),
        sa.PrimaryKeyConstraint("organization_id", "id", name=f"pk_{PREDICTIONS}"),
    )
    key = ["created_at", "id"]
    op.create_index(
        f"ix_{PREDICTIONS}_artifact", PREDICTIONS, ["organization_id", "artifact_id", *key]
    )
    op.create_index(
        f"ix_{PREDICTIONS}_created", PREDICTIONS, ["organization_id", "schema_id", *key]
    )
    # At most one prediction of an artifact is pending.
    op.create_index(
        f"uq_{PREDICTIONS}_queued",
        PREDICTIONS,
        ["organization_id", "artifact_id"],
        unique=True,
        postgresql_where=sa.text("status = 'queued'"),
    )
    op.create_index(f"ix_{PREDICTIONS}_age", PREDICTIONS, ["created_at"])


def _create_models() -> None:
    op.create_table(
        MODELS,
        sa.Column("organization_id", sa.Uuid(), nullable=False),
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("schema_id", sa.Uuid(), nullable=False),
        sa.Column("schema_version_id", sa.Uuid(), nullable=False),
        sa.Column("version", sa.String(), nullable=False),
        sa.Column("state", sa.String(), nullable=False),
        sa.Column("document_count", sa.Integer(), nullable=False),
        sa.Column("f1", sa.Float(), nullable=True),
        sa.Column("report", postgresql.JSONB(), nullable=False),
        sa.Column("error", postgresql.JSONB(none_as_null=True), nullable=True),
        sa.Column("artifact_ids", postgresql.ARRAY(sa.Uuid()), server_default="{}", nullable=False),
        sa.Column("content", sa.LargeBinary(), nullable=True),
        sa.Column("mac", sa.String(), nullable=True),
        sa.Column("activated_at", sa.DateTime(timezone=True), nullable=True),
        *_build_times(),
        _reference_organization(MODELS),
        *_reference_schema(MODELS),
        sa.PrimaryKeyConstraint("organization_id", "id", name=f"pk_{MODELS}"),
    )
    of_version = ["organization_id", "schema_version_id"]
    op.create_index(f"ix_{MODELS}_list", MODELS, [*of_version, "created_at", "id"])
    op.create_index(
        f"uq_{MODELS}_active",
        MODELS,
        of_version,
        unique=True,
        postgresql_where=sa.text("state = 'active'"),
    )


def _build_times() -> list[sa.Column[object]]:
    return [
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("updated_at", sa.DateTime(timezone=True), nullable=False),
    ]


def _reference_organization(table: str) -> sa.ForeignKeyConstraint:
    return sa.ForeignKeyConstraint(
        ["organization_id"],
        ["organizations.id"],
        name=f"fk_{table}_organization_id",
        ondelete="CASCADE",
    )


def _reference_schema(table: str) -> list[sa.ForeignKeyConstraint]:
    return [
        sa.ForeignKeyConstraint(
            ["organization_id", "schema_id"],
            ["schemas.organization_id", "schemas.id"],
            name=f"fk_{table}_organization_id_schema_id",
            ondelete="CASCADE",
        ),
        sa.ForeignKeyConstraint(
            ["organization_id", "schema_version_id"],
            ["schema_versions.organization_id", "schema_versions.id"],
            name=f"fk_{table}_organization_id_schema_version_id",
            ondelete="CASCADE",
        ),
    ]


def downgrade() -> None:
    unaudited(MODELS)
    op.drop_table(MODELS)
    op.drop_table(PREDICTIONS)
    audited("artifacts", label="name", ignored=_IGNORED)
    op.drop_column("tag_sets", "prediction_model_version")
    op.drop_column("tag_sets", "prediction_id")
    op.drop_column("artifacts", "prediction")
