"""Index accepted tag sets of a schema by the time of their decision."""

import sqlalchemy as sa

from migrations import live

revision = "202612021002"
down_revision = "202612021001"
branch_labels = None
depends_on = None


def upgrade() -> None:
    live.create_index(
        "ix_tag_sets_accepted",
        "tag_sets",
        ["organization_id", "schema_id", "decided_at", "id"],
        postgresql_where=sa.text("status = 'accepted'"),
    )


def downgrade() -> None:
    live.drop_index("ix_tag_sets_accepted")
