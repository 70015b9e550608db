"""Index the notifications that still collect events."""

import sqlalchemy as sa

from migrations import live

revision = "202611220220"
down_revision = "202611220215"
branch_labels = None
depends_on = None

OPEN = sa.text("open_until IS NOT NULL")


def upgrade() -> None:
    live.create_index(
        "uq_notifications_open",
        "notifications",
        ["organization_id", "user_id", "message"],
        unique=True,
        postgresql_where=OPEN,
    )
    live.create_index(
        "ix_notifications_due", "notifications", ["open_until"], postgresql_where=OPEN
    )


def downgrade() -> None:
    live.drop_index("ix_notifications_due")
    live.drop_index("uq_notifications_open")
