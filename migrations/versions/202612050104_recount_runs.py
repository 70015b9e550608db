"""Count the existing exports and runs, and index them by the filters of their lists."""

from migrations import live

revision = "202612050104"
down_revision = "202612050103"
branch_labels = None
depends_on = None

ORDER = ("created_at", "id")
INDEXES = {
    "ix_exports_filters": ("exports", "status", "format"),
    "ix_quality_runs_schema": ("quality_runs", "schema_id"),
    "ix_quality_runs_status": ("quality_runs", "status"),
}


def upgrade() -> None:
    live.recount("exports", "scheduled_export_runs", "quality_runs")
    for name, (table, *columns) in INDEXES.items():
        live.create_index(name, table, ["organization_id", *columns, *ORDER])


def downgrade() -> None:
    for name in INDEXES:
        live.drop_index(name)
