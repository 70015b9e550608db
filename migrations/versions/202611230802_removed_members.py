"""Record members who were removed manually, because single sign-on must not add them again."""

import sqlalchemy as sa
from alembic import op

from migrations.policies import protect

revision = "202611230802"
down_revision = "202611230801"
branch_labels = None
depends_on = None

# Before this migration, an identity without a membership meant that the member was removed, unless
# the sign-in policy had removed the membership (`dropped_at`).
REMEMBER = """
INSERT INTO removed_members (organization_id, user_id, removed_at)
SELECT i.organization_id, i.user_id, now() FROM sso_identities i
WHERE NOT EXISTS (SELECT FROM memberships m
                  WHERE m.organization_id = i.organization_id AND m.user_id = i.user_id)
GROUP BY i.organization_id, i.user_id
HAVING bool_and(i.dropped_at IS NULL)
"""


def upgrade() -> None:
    op.create_table(
        "removed_members",
        sa.Column("organization_id", sa.Uuid(), nullable=False),
        sa.Column("user_id", sa.Uuid(), nullable=False),
        sa.Column("removed_at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(
            ["organization_id"],
            ["organizations.id"],
            name=op.f("fk_removed_members_organization_id"),
            ondelete="CASCADE",
        ),
        sa.ForeignKeyConstraint(
            ["user_id"],
            ["users.id"],
            name=op.f("fk_removed_members_user_id"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("organization_id", "user_id", name=op.f("pk_removed_members")),
    )
    op.create_index(op.f("ix_removed_members_user_id"), "removed_members", ["user_id"])
    protect("removed_members")
    op.execute(REMEMBER)


def downgrade() -> None:
    op.drop_table("removed_members")
