"""Add connectors with their alerts and objects, and store the position of a crawl in its job."""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

from migrations.auditing import audited, unaudited
from migrations.policies import protect

revision = "202611280100"
down_revision = "202611270105"
branch_labels = None
depends_on = None

CONNECTORS, ALERTS, OBJECTS = "connectors", "connector_alerts", "connector_objects"
# Crawls change these columns.
_IGNORED = ("next_crawl_at", "stale_at", "last_job_id", "failures_in_a_row", "open_alert_count")
_IGNORED_OF_JOBS = (
    *("total", "found", "created", "duplicate", "skipped", "failed", "cursor"),
    *("next_offset", "next_number", "retried_until", "source_key"),
)


def upgrade() -> None:
    _create_connectors()
    _create_alerts()
    _create_objects()
    for table in (CONNECTORS, ALERTS, OBJECTS):
        protect(table)
    audited(CONNECTORS, label="name", ignored=_IGNORED)
    audited(ALERTS, label="kind")
    audited("ingestion_jobs", label="name", ignored=_IGNORED_OF_JOBS)
    op.add_column("ingestion_jobs", sa.Column("cursor", sa.String(), nullable=True))


def _create_connectors() -> None:
    op.create_table(
        CONNECTORS,
        sa.Column("organization_id", sa.Uuid(), nullable=False),
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("name", sa.String(), nullable=False),
        sa.Column("type", sa.String(), nullable=False),
        sa.Column("settings", postgresql.JSONB(), nullable=False),
        sa.Column("credentials", sa.String(), nullable=True),
        sa.Column("stored_secrets", postgresql.ARRAY(sa.Text()), nullable=False),
        sa.Column("schema_id", sa.Uuid(), nullable=True),
        sa.Column("enabled", sa.Boolean(), nullable=False),
        sa.Column("schedule", sa.String(), nullable=True),
        sa.Column("include_patterns", postgresql.ARRAY(sa.Text()), nullable=False),
        sa.Column("exclude_patterns", postgresql.ARRAY(sa.Text()), nullable=False),
        sa.Column("next_crawl_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("stale_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("last_job_id", sa.Uuid(), nullable=True),
        sa.Column("failures_in_a_row", sa.Integer(), nullable=False),
        sa.Column("open_alert_count", sa.Integer(), nullable=False),
        sa.Column("created_by", sa.Uuid(), nullable=True),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("updated_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("revision", sa.Integer(), nullable=False),
        sa.ForeignKeyConstraint(["created_by"], ["users.id"], name=f"fk_{CONNECTORS}_created_by"),
        _reference_organization(CONNECTORS),
        sa.ForeignKeyConstraint(
            ["organization_id", "schema_id"],
            ["schemas.organization_id", "schemas.id"],
            name=f"fk_{CONNECTORS}_organization_id_schema_id",
            ondelete="SET NULL (schema_id)",
        ),
        sa.PrimaryKeyConstraint("organization_id", "id", name=f"pk_{CONNECTORS}"),
    )
    op.create_index(f"ix_{CONNECTORS}_list", CONNECTORS, ["organization_id", "created_at", "id"])
    op.create_index(f"ix_{CONNECTORS}_schema", CONNECTORS, ["organization_id", "schema_id"])
    for name, column in (("due", "next_crawl_at"), ("stale", "stale_at")):
        op.create_index(
            f"ix_{CONNECTORS}_{name}",
            CONNECTORS,
            [column],
            postgresql_where=sa.text(f"{column} IS NOT NULL"),
        )


def _create_alerts() -> None:
    op.create_table(
        ALERTS,
        sa.Column("organization_id", sa.Uuid(), nullable=False),
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("connector_id", sa.Uuid(), nullable=False),
        sa.Column("kind", sa.String(), nullable=False),
        sa.Column("message", sa.String(), nullable=False),
        sa.Column("ingestion_job_id", sa.Uuid(), nullable=True),
        sa.Column("acknowledged_by", sa.Uuid(), nullable=True),
        sa.Column("acknowledged_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("closed_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("updated_at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(
            ["acknowledged_by"], ["users.id"], name=f"fk_{ALERTS}_acknowledged_by"
        ),
        _reference_organization(ALERTS),
        sa.ForeignKeyConstraint(
            ["organization_id", "connector_id"],
            ["connectors.organization_id", "connectors.id"],
            name=f"fk_{ALERTS}_organization_id_connector_id",
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("organization_id", "id", name=f"pk_{ALERTS}"),
    )
    columns = ["organization_id", "connector_id"]
    op.create_index(f"ix_{ALERTS}_list", ALERTS, [*columns, "created_at", "id"])
    op.create_index(
        f"uq_{ALERTS}_open",
        ALERTS,
        [*columns, "kind"],
        unique=True,
        postgresql_where=sa.text("closed_at IS NULL"),
    )


def _create_objects() -> None:
    op.create_table(
        OBJECTS,
        sa.Column("organization_id", sa.Uuid(), nullable=False),
        sa.Column("connector_id", sa.Uuid(), nullable=False),
        sa.Column("digest", sa.LargeBinary(), nullable=False),
        sa.Column("version", sa.String(), nullable=True),
        _reference_organization(OBJECTS),
        sa.PrimaryKeyConstraint("organization_id", "connector_id", "digest", name=f"pk_{OBJECTS}"),
    )


def _reference_organization(table: str) -> sa.ForeignKeyConstraint:
    return sa.ForeignKeyConstraint(
        ["organization_id"],
        ["organizations.id"],
        name=f"fk_{table}_organization_id",
        ondelete="CASCADE",
    )


def downgrade() -> None:
    op.drop_column("ingestion_jobs", "cursor")
    for table in (ALERTS, CONNECTORS):
        unaudited(table)
    for table in (ALERTS, OBJECTS, CONNECTORS):
        op.drop_table(table)
