"""Store how notifications are delivered, count them, and store which API key requested an export."""

import sqlalchemy as sa
from alembic import op

from migrations.counting import Cube, Source, as_hour, as_text, counted, uncounted

revision = "202612010100"
down_revision = "202611300400"
branch_labels = None
depends_on = None

TABLE = "notification_delivery_preferences"
STATE = ("kind", "unread")
NOTIFICATIONS = Source(
    "notifications",
    {
        "user_id": as_text("r.user_id"),
        "kind": "r.kind",
        "unread": as_text("r.read_at IS NULL"),
        "created": as_hour("r.created_at"),
    },
    (
        Cube("notifications", STATE, key="user_id"),
        Cube("notifications.created.month", STATE, key="user_id", bucket="created", length=7),
        Cube("notifications.created.day", STATE, key="user_id", bucket="created", length=10),
    ),
    condition="r.in_app",
)


def upgrade() -> None:
    op.create_table(
        TABLE,
        sa.Column("user_id", sa.Uuid(), nullable=False),
        sa.Column("email_frequency", sa.String(), nullable=False),
        sa.Column("quiet_from", sa.Time(), nullable=True),
        sa.Column("quiet_to", sa.Time(), nullable=True),
        sa.Column("updated_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("revision", sa.Integer(), nullable=False),
        sa.ForeignKeyConstraint(
            ["user_id"], ["users.id"], name=f"fk_{TABLE}_user_id", ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("user_id", name=f"pk_{TABLE}"),
    )
    op.add_column("exports", sa.Column("api_key_id", sa.Uuid(), nullable=True))
    counted("notifications", NOTIFICATIONS)


def downgrade() -> None:
    uncounted("notifications")
    op.drop_column("exports", "api_key_id")
    op.drop_table(TABLE)
