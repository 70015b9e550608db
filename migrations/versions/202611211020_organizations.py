"""Add invitations, closing and erasing of organizations, and the order of members by name."""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

from migrations.auditing import audited
from migrations.policies import protect

revision = "202611211020"
down_revision = "202611211010"
branch_labels = None
depends_on = None

# A membership stores the name of its user in lower case, so that an index can list 100,000 members
# in order; with a join, all of them would have to be sorted. Triggers maintain the name, whatever
# code changes a membership or a user.
NAMING = """
CREATE FUNCTION name_membership() RETURNS trigger
LANGUAGE plpgsql SET search_path = pg_catalog, public AS $$
BEGIN
    NEW.sort_name := coalesce((SELECT lower(name) FROM users WHERE id = NEW.user_id), '');
    RETURN NEW;
END $$;
CREATE TRIGGER name_membership BEFORE INSERT ON memberships
    FOR EACH ROW EXECUTE FUNCTION name_membership();
CREATE FUNCTION rename_memberships() RETURNS trigger
LANGUAGE plpgsql SET search_path = pg_catalog, public AS $$
DECLARE
    before text := current_setting('app.all_organizations', true);
BEGIN
    PERFORM set_config('app.all_organizations', 'on', true);
    UPDATE memberships SET sort_name = lower(NEW.name) WHERE user_id = NEW.id;
    PERFORM set_config('app.all_organizations', coalesce(before, ''), true);
    RETURN NULL;
END $$;
CREATE TRIGGER rename_memberships AFTER UPDATE OF name ON users
    FOR EACH ROW WHEN (OLD.name IS DISTINCT FROM NEW.name) EXECUTE FUNCTION rename_memberships();
"""


def upgrade() -> None:
    for name in ("closed_at", "erase_after", "erased_at"):
        op.add_column("organizations", sa.Column(name, sa.DateTime(timezone=True), nullable=True))
    op.add_column("organizations", sa.Column("erasure", postgresql.JSONB(), nullable=True))
    op.add_column("organizations", sa.Column("ai_provider_key", sa.String(), nullable=True))
    op.create_index(
        "ix_organizations_erase_after",
        "organizations",
        ["erase_after"],
        postgresql_where=sa.text("status = 'closed'"),
    )
    _update_memberships_table()
    _create_invitations_table()
    protect("invitations")
    audited("organizations", label="name", secret=("ai_provider_key",), ignored=("erasure",))
    audited(
        "memberships", label="user_id", kind="members", target="user_id", ignored=("sort_name",)
    )
    audited("invitations", label="email", secret=("token_hash",))


def downgrade() -> None:
    raise RuntimeError("cannot be reverted: members and invitations do not fit the previous tables")


def _update_memberships_table() -> None:
    revision = sa.Column("revision", sa.Integer(), server_default="1", nullable=False)
    op.add_column("memberships", revision)
    op.add_column("memberships", sa.Column("updated_at", sa.DateTime(timezone=True), nullable=True))
    name = sa.Column("sort_name", sa.String(), server_default="", nullable=False)
    op.add_column("memberships", name)
    op.execute("SET LOCAL app.all_organizations = 'on'")
    op.execute(
        "UPDATE memberships SET sort_name = lower(users.name) FROM users"
        " WHERE users.id = memberships.user_id"
    )
    op.execute("SET LOCAL app.all_organizations = ''")
    op.execute(NAMING)
    for name, columns in (
        ("ix_memberships_name", ["organization_id", "sort_name", "user_id"]),
        ("ix_memberships_joined", ["organization_id", "created_at", "user_id"]),
        ("ix_memberships_role", ["organization_id", "role", "sort_name", "user_id"]),
    ):
        op.create_index(name, "memberships", columns)


def _create_invitations_table() -> None:
    op.create_table(
        "invitations",
        sa.Column("organization_id", sa.Uuid(), nullable=False),
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("email", sa.String(), nullable=False),
        sa.Column("email_key", sa.String(), nullable=False),
        sa.Column("role", sa.String(), nullable=False),
        sa.Column("team_ids", postgresql.JSONB(), nullable=False),
        sa.Column("token_hash", sa.String(), nullable=False),
        sa.Column("expires_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("invited_by", sa.Uuid(), nullable=True),
        sa.Column("accepted_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("revoked_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("updated_at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(
            ["organization_id"],
            ["organizations.id"],
            name=op.f("fk_invitations_organization_id"),
            ondelete="CASCADE",
        ),
        sa.ForeignKeyConstraint(
            ["invited_by"],
            ["users.id"],
            name=op.f("fk_invitations_invited_by"),
            ondelete="SET NULL",
        ),
        sa.PrimaryKeyConstraint("organization_id", "id", name=op.f("pk_invitations")),
        sa.UniqueConstraint("token_hash", name=op.f("uq_invitations_token_hash")),
    )
    op.create_index("ix_invitations_list", "invitations", ["organization_id", "created_at", "id"])
    op.create_index(op.f("ix_invitations_invited_by"), "invitations", ["invited_by"])
    op.create_index(
        "uq_invitations_open",
        "invitations",
        ["organization_id", "email_key"],
        unique=True,
        postgresql_where=sa.text("accepted_at IS NULL AND revoked_at IS NULL"),
    )
