"""Index the history of plans by time, because only the changes of a period are read."""

from migrations import live

revision = "202612050105"
down_revision = "202612050104"
branch_labels = None
depends_on = None

INDEX = "ix_plan_changes_time"


def upgrade() -> None:
    live.create_index(INDEX, "plan_changes", ["organization_id", "changed_at"])


def downgrade() -> None:
    live.drop_index(INDEX)
