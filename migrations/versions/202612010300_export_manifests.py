"""Store the manifest of an export's file."""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

from migrations import live

revision = "202612010300"
down_revision = "202612010201"
branch_labels = None
depends_on = None


def upgrade() -> None:
    live.add_column("exports", sa.Column("manifest", postgresql.JSONB(none_as_null=True)))


def downgrade() -> None:
    op.drop_column("exports", "manifest")
