"""Give each ownership an id, so that single sign-on is confirmed again after a change of owner.

A trigger sets a new `ownership_id` whenever a member becomes an owner, because instances of the
previous release do not write this column.
"""

import sqlalchemy as sa
from alembic import op

from migrations.auditing import audited

revision = "202611230801"
down_revision = "202611230705"
branch_labels = None
depends_on = None

BEGIN_OWNERSHIP = """
CREATE FUNCTION begin_ownership() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    NEW.ownership_id := CASE WHEN NEW.role = 'owner' THEN gen_random_uuid() END;
    RETURN NEW;
END $$
"""
ON_INSERT = """
CREATE TRIGGER begin_ownership_on_insert BEFORE INSERT ON memberships
FOR EACH ROW WHEN (NEW.role = 'owner') EXECUTE FUNCTION begin_ownership()
"""
ON_UPDATE = """
CREATE TRIGGER begin_ownership_on_update BEFORE UPDATE OF role ON memberships
FOR EACH ROW WHEN (OLD.role IS DISTINCT FROM NEW.role) EXECUTE FUNCTION begin_ownership()
"""
_IGNORED = ("sort_name",)


def upgrade() -> None:
    op.add_column("memberships", sa.Column("ownership_id", sa.Uuid(), nullable=True))
    op.add_column("sso_identities", sa.Column("confirmed_ownership_id", sa.Uuid(), nullable=True))
    op.add_column("sso_codes", sa.Column("ownership_id", sa.Uuid(), nullable=True))
    op.execute(BEGIN_OWNERSHIP)
    op.execute(ON_INSERT)
    op.execute(ON_UPDATE)
    _watch_members(ignored=(*_IGNORED, "ownership_id"))


def downgrade() -> None:
    _watch_members(ignored=_IGNORED)
    op.execute("DROP TRIGGER begin_ownership_on_update ON memberships")
    op.execute("DROP TRIGGER begin_ownership_on_insert ON memberships")
    op.execute("DROP FUNCTION begin_ownership()")
    op.drop_column("sso_codes", "ownership_id")
    op.drop_column("sso_identities", "confirmed_ownership_id")
    op.drop_column("memberships", "ownership_id")


def _watch_members(*, ignored: tuple[str, ...]) -> None:
    audited("memberships", label="user_id", kind="members", target="user_id", ignored=ignored)
