"""Index the submitted merges that are assigned to users, for the counts of their work."""

import sqlalchemy as sa

from migrations import live

revision = "202612051104"
down_revision = "202612051103"
branch_labels = None
depends_on = None

INDEX = "ix_tag_sets_assigned_merges"
CONDITION = "status = 'submitted' AND assignee_id IS NOT NULL AND merged_from IS NOT NULL"


def upgrade() -> None:
    columns = ["organization_id", "assignee_id"]
    live.create_index(INDEX, "tag_sets", columns, postgresql_where=sa.text(CONDITION))


def downgrade() -> None:
    live.drop_index(INDEX)
