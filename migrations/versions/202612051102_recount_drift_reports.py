"""Count the existing drift reports, and index them by the filters of their list."""

from migrations import live

revision = "202612051102"
down_revision = "202612051101"
branch_labels = None
depends_on = None

ORDER = ("created_at", "id")
INDEXES = {
    "ix_drift_reports_status": "status",
    "ix_drift_reports_schema_list": "schema_id",
}


def upgrade() -> None:
    live.recount("drift_reports")
    for name, column in INDEXES.items():
        live.create_index(name, "drift_reports", ["organization_id", column, *ORDER])


def downgrade() -> None:
    for name in INDEXES:
        live.drop_index(name)
