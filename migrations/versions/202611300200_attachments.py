"""Store which email a document was attached to."""

import sqlalchemy as sa
from alembic import op

from migrations import live

revision = "202611300200"
down_revision = "202611300101"
branch_labels = None
depends_on = None


def upgrade() -> None:
    live.add_column("artifacts", sa.Column("parent_id", sa.Uuid()))
    live.create_index(
        "ix_artifacts_parent",
        "artifacts",
        ["organization_id", "parent_id", "created_at"],
        postgresql_where=sa.text("parent_id IS NOT NULL"),
    )


def downgrade() -> None:
    live.drop_index("ix_artifacts_parent")
    op.drop_column("artifacts", "parent_id")
