"""Let a notification collect several events, and store which notifications are emailed."""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

from migrations.policies import protect

revision = "202611220215"
down_revision = "202611220206"
branch_labels = None
depends_on = None

TABLE = "notification_causes"


def upgrade() -> None:
    op.add_column(
        "notifications",
        sa.Column("in_app", sa.Boolean(), server_default=sa.true(), nullable=False),
    )
    op.add_column(
        "notifications", sa.Column("count", sa.Integer(), server_default="1", nullable=False)
    )
    op.add_column("notifications", sa.Column("message", sa.String(), nullable=True))
    op.add_column("notifications", sa.Column("gathered", postgresql.JSONB(), nullable=True))
    op.add_column(
        "notifications",
        sa.Column("by_mail", sa.Boolean(), server_default=sa.false(), nullable=False),
    )
    op.add_column(
        "notifications", sa.Column("open_until", sa.DateTime(timezone=True), nullable=True)
    )
    op.create_table(
        TABLE,
        sa.Column("organization_id", sa.Uuid(), nullable=False),
        sa.Column("cause", sa.Uuid(), nullable=False),
        sa.Column(
            "created_at", sa.DateTime(timezone=True), server_default=sa.func.now(), nullable=False
        ),
        sa.ForeignKeyConstraint(
            ["organization_id"],
            ["organizations.id"],
            name=f"fk_{TABLE}_organization_id",
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("organization_id", "cause", name=f"pk_{TABLE}"),
    )
    op.create_index(f"ix_{TABLE}_created_at", TABLE, ["created_at"])
    protect(TABLE)


def downgrade() -> None:
    op.drop_table(TABLE)
    for column in ("open_until", "by_mail", "gathered", "message", "count", "in_app"):
        op.drop_column("notifications", column)
