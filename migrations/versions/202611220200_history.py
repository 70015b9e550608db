"""Record the actions on documents that no other record contains."""

import sqlalchemy as sa
from alembic import op

from migrations.policies import protect

revision = "202611220200"
down_revision = "202611212355"
branch_labels = None
depends_on = None

TABLE = "artifact_acts"


def upgrade() -> None:
    op.create_table(
        TABLE,
        sa.Column("organization_id", sa.Uuid(), nullable=False),
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("artifact_id", sa.Uuid(), nullable=False),
        sa.Column("kind", sa.String(), nullable=False),
        sa.Column("user_id", sa.Uuid(), nullable=False),
        sa.Column("tag_set_id", sa.Uuid(), nullable=True),
        sa.Column("note", sa.String(), nullable=True),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(
            ["organization_id"],
            ["organizations.id"],
            name=f"fk_{TABLE}_organization_id",
            ondelete="CASCADE",
        ),
        sa.ForeignKeyConstraint(
            ["organization_id", "artifact_id"],
            ["artifacts.organization_id", "artifacts.id"],
            name=f"fk_{TABLE}_organization_id_artifact_id",
            ondelete="CASCADE",
        ),
        sa.ForeignKeyConstraint(["user_id"], ["users.id"], name=f"fk_{TABLE}_user_id"),
        sa.PrimaryKeyConstraint("organization_id", "id", name=f"pk_{TABLE}"),
    )
    op.create_index(f"ix_{TABLE}_of", TABLE, ["organization_id", "artifact_id"])
    protect(TABLE)


def downgrade() -> None:
    op.drop_table(TABLE)
