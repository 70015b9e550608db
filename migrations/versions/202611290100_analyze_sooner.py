"""Analyze the large tables after one row in 50 has changed, not one in 10.

Until a table is analyzed, the planner expects only one row for an organization that is newer than
the statistics.
"""

from alembic import op

revision = "202611290100"
down_revision = "202611280201"
branch_labels = None
depends_on = None

_TABLES = ("artifacts", "ingestion_items", "tag_set_revisions", "tag_sets")


def upgrade() -> None:
    for table in _TABLES:
        op.execute(f"ALTER TABLE {table} SET (autovacuum_analyze_scale_factor = 0.02)")


def downgrade() -> None:
    for table in _TABLES:
        op.execute(f"ALTER TABLE {table} RESET (autovacuum_analyze_scale_factor)")
