"""Index searched documents by their time."""

import sqlalchemy as sa

from migrations import live

revision = "202611231301"
down_revision = "202611231201"
branch_labels = None
depends_on = None

INDEX = "ix_artifact_search_time"


def upgrade() -> None:
    live.create_index(
        INDEX,
        "artifact_search",
        ["organization_id", sa.text("timezone('UTC', created_at)")],
    )


def downgrade() -> None:
    live.drop_index(INDEX)
