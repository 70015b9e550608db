"""Index the cells of one schema by day, which the metrics of its fields are read from."""

from migrations import live

revision = "202612041002"
down_revision = "202612041001"
branch_labels = None
depends_on = None

INDEX = "ix_quality_cells_schemas"


def upgrade() -> None:
    live.create_index(INDEX, "quality_cells", ["organization_id", "subject", "schema_id", "day"])


def downgrade() -> None:
    live.drop_index(INDEX)
