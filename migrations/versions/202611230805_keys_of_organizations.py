"""Let API keys belong to their organization and outlive the membership of their creator."""

import sqlalchemy as sa
from alembic import op

revision = "202611230805"
down_revision = "202611230804"
branch_labels = None
depends_on = None

OF_MEMBERSHIP = "fk_api_keys_organization_id_created_by"
OF_USER = "fk_api_keys_created_by"

UNSAFE = (
    (
        "ban-drop-constraint",
        f"ALTER TABLE api_keys DROP CONSTRAINT {OF_MEMBERSHIP}",
        "Instances of the previous release still reject a key without the membership of its"
        " creator, because they join the membership when they check the key.",
    ),
)


def upgrade() -> None:
    op.drop_constraint(OF_MEMBERSHIP, "api_keys", type_="foreignkey")
    op.create_foreign_key(
        OF_USER, "api_keys", "users", ["created_by"], ["id"], postgresql_not_valid=True
    )


def downgrade() -> None:
    op.drop_constraint(OF_USER, "api_keys", type_="foreignkey")
    # In the previous release, keys are deleted with the membership of their creator.
    keys = sa.table("api_keys", sa.column("organization_id"), sa.column("created_by"))
    members = sa.table("memberships", sa.column("organization_id"), sa.column("user_id"))
    whose = sa.exists().where(
        members.c.organization_id == keys.c.organization_id,
        members.c.user_id == keys.c.created_by,
    )
    op.execute(keys.delete().where(~whose))
    op.create_foreign_key(
        OF_MEMBERSHIP,
        "api_keys",
        "memberships",
        ["organization_id", "created_by"],
        ["organization_id", "user_id"],
        ondelete="CASCADE",
    )
