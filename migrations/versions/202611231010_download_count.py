"""Count the downloads of exports, so that each adds an entry to the audit log."""

import sqlalchemy as sa
from alembic import op

revision = "202611231010"
down_revision = "202611231000"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column(
        "exports", sa.Column("download_count", sa.Integer(), server_default="0", nullable=False)
    )


def downgrade() -> None:
    op.drop_column("exports", "download_count")
