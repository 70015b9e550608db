"""Add comments on tag sets."""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

from migrations.auditing import audited, unaudited
from migrations.policies import protect

revision = "202611212355"
down_revision = "202611212350"
branch_labels = None
depends_on = None

TABLE = "tag_set_comments"


def upgrade() -> None:
    op.create_table(
        TABLE,
        sa.Column("organization_id", sa.Uuid(), nullable=False),
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("tag_set_id", sa.Uuid(), nullable=False),
        sa.Column("thread_id", sa.Uuid(), nullable=False),
        sa.Column("parent_id", sa.Uuid(), nullable=True),
        sa.Column("author_id", sa.Uuid(), nullable=False),
        sa.Column("field", sa.String(), nullable=True),
        sa.Column("body", sa.String(), nullable=False),
        sa.Column("mentions", postgresql.ARRAY(sa.Uuid()), nullable=False),
        sa.Column("resolved_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("resolved_by_id", sa.Uuid(), nullable=True),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("updated_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("revision", sa.Integer(), nullable=False),
        sa.ForeignKeyConstraint(
            ["organization_id"],
            ["organizations.id"],
            name=f"fk_{TABLE}_organization_id",
            ondelete="CASCADE",
        ),
        sa.ForeignKeyConstraint(
            ["organization_id", "tag_set_id"],
            ["tag_sets.organization_id", "tag_sets.id"],
            name=f"fk_{TABLE}_organization_id_tag_set_id",
            ondelete="CASCADE",
        ),
        sa.ForeignKeyConstraint(["author_id"], ["users.id"], name=f"fk_{TABLE}_author_id"),
        sa.ForeignKeyConstraint(
            ["resolved_by_id"], ["users.id"], name=f"fk_{TABLE}_resolved_by_id"
        ),
        sa.PrimaryKeyConstraint("organization_id", "id", name=f"pk_{TABLE}"),
        sa.UniqueConstraint(
            "organization_id", "tag_set_id", "id", name=f"uq_{TABLE}_organization_id_tag_set_id_id"
        ),
    )
    op.create_foreign_key(
        f"fk_{TABLE}_parent",
        TABLE,
        TABLE,
        ["organization_id", "tag_set_id", "parent_id"],
        ["organization_id", "tag_set_id", "id"],
        ondelete="CASCADE",
    )
    op.create_index(
        f"ix_{TABLE}_threads", TABLE, ["organization_id", "tag_set_id", "thread_id", "id"]
    )
    protect(TABLE)
    audited(TABLE, label="tag_set_id")


def downgrade() -> None:
    unaudited(TABLE)
    op.drop_table(TABLE)
