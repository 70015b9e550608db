"""Index the documents that wait for the routing rules."""

import sqlalchemy as sa

from migrations import live

revision = "202611231100"
down_revision = "202611231090"
branch_labels = None
depends_on = None


def upgrade() -> None:
    live.create_index(
        "ix_artifacts_routing",
        "artifacts",
        ["routing_since"],
        postgresql_where=sa.text("status = 'processing' AND routing_since IS NOT NULL"),
    )


def downgrade() -> None:
    live.drop_index("ix_artifacts_routing")
