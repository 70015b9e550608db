"""Count the existing notifications, and index their lists."""

import sqlalchemy as sa

from migrations import live

revision = "202612010101"
down_revision = "202612010100"
branch_labels = None
depends_on = None

TABLE = "notifications"
UNREAD = sa.text("(read_at IS NULL)")
IN_APP = sa.text("in_app")


def upgrade() -> None:
    live.recount("notifications")
    live.create_index(
        "ix_notifications_unread",
        TABLE,
        ["organization_id", "user_id", UNREAD, "created_at", "id"],
        postgresql_where=IN_APP,
    )
    live.create_index(
        "ix_notifications_kind",
        TABLE,
        ["organization_id", "user_id", "kind", UNREAD, "created_at", "id"],
        postgresql_where=IN_APP,
    )
    live.create_index("ix_notifications_created_at", TABLE, ["created_at"])
    live.drop_index("ix_notifications_user")


def downgrade() -> None:
    live.create_index(
        "ix_notifications_user", TABLE, ["organization_id", "user_id", "created_at", "id"]
    )
    for name in ("created_at", "kind", "unread"):
        live.drop_index(f"ix_notifications_{name}")
