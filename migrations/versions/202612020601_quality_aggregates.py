"""Add daily quality aggregates, and the contribution of each document to them."""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

from migrations.policies import protect

revision = "202612020601"
down_revision = "202612020501"
branch_labels = None
depends_on = None

STATES, DOCUMENTS, CELLS = "quality_states", "quality_documents", "quality_cells"
COUNTERS = (
    "submitted",
    "timed",
    "seconds",
    "accepted",
    "corrected",
    "rejected",
    "auto_accepted",
    "overturned",
    "compared",
    "agreement",
    "checked",
    "accuracy",
)


def upgrade() -> None:
    _create_table(
        STATES,
        (),
        sa.Column("time_zone", sa.String(), nullable=False),
        sa.Column("rules", sa.Integer(), nullable=False),
        sa.Column("counted_until", sa.Uuid(), nullable=True),
        sa.Column("repaired_until", sa.Uuid(), nullable=True),
        sa.Column("counted_at", sa.DateTime(timezone=True), nullable=True),
    )
    _create_table(
        DOCUMENTS,
        ("artifact_id",),
        sa.Column("artifact_id", sa.Uuid(), nullable=False),
        sa.Column("schema_id", sa.Uuid(), nullable=True),
        sa.Column("contributions", postgresql.JSONB(), nullable=False),
    )
    op.create_index(f"ix_{DOCUMENTS}_schema", DOCUMENTS, ["organization_id", "schema_id"])
    _create_table(
        CELLS,
        ("subject", "schema_id", "name", "field_type", "day"),
        sa.Column("subject", sa.String(), nullable=False),
        sa.Column("schema_id", sa.Uuid(), nullable=False),
        sa.Column("name", sa.String(), nullable=False),
        sa.Column("field_type", sa.String(), nullable=False),
        sa.Column("day", sa.Date(), nullable=False),
        *(sa.Column(name, sa.BigInteger(), nullable=False) for name in COUNTERS),
    )
    op.create_index(f"ix_{CELLS}_days", CELLS, ["organization_id", "subject", "day"])
    op.create_index(f"ix_{CELLS}_names", CELLS, ["organization_id", "subject", "name", "day"])


def _create_table(table: str, key: tuple[str, ...], *columns: sa.Column) -> None:  # type: ignore[type-arg]
    op.create_table(
        table,
        sa.Column("organization_id", sa.Uuid(), nullable=False),
        *columns,
        sa.ForeignKeyConstraint(
            ["organization_id"],
            ["organizations.id"],
            name=f"fk_{table}_organization_id",
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("organization_id", *key, name=f"pk_{table}"),
    )
    protect(table)


def downgrade() -> None:
    for table in (CELLS, DOCUMENTS, STATES):
        op.drop_table(table)
