"""Store the number of attachments of an email."""

import sqlalchemy as sa
from alembic import op

from migrations import live

revision = "202611300400"
down_revision = "202611300300"
branch_labels = None
depends_on = None


def upgrade() -> None:
    live.add_column("artifacts", sa.Column("attachment_count", sa.Integer()))


def downgrade() -> None:
    op.drop_column("artifacts", "attachment_count")
