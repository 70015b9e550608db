"""Teams and who is in them."""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

from migrations.auditing import audited
from migrations.policies import protect

revision = "202611211040"
down_revision = "202611211030"
branch_labels = None
depends_on = None

# Per statement, so that a thousand new members are one update of their team. Rows are locked in the
# order of their ids: two people who leave the same teams at once take turns.
COUNT_MEMBERS = """
CREATE FUNCTION count_team_members() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
    step int := CASE TG_OP WHEN 'INSERT' THEN 1 ELSE -1 END;
BEGIN
    PERFORM FROM teams
    WHERE (organization_id, id) IN (SELECT organization_id, team_id FROM moved)
    ORDER BY organization_id, id FOR NO KEY UPDATE;
    UPDATE teams SET member_count = member_count + step * counted.number
    FROM (SELECT organization_id, team_id, count(*) AS number FROM moved GROUP BY 1, 2) AS counted
    WHERE teams.organization_id = counted.organization_id AND teams.id = counted.team_id;
    RETURN NULL;
END $$
"""


def upgrade() -> None:
    _tables()
    op.execute(COUNT_MEMBERS)
    for event, rows in (("INSERT", "NEW"), ("DELETE", "OLD")):
        op.execute(
            f"CREATE TRIGGER count_members_{event.lower()} AFTER {event} ON team_members"
            f" REFERENCING {rows} TABLE AS moved"
            " FOR EACH STATEMENT EXECUTE FUNCTION count_team_members()"
        )
    for table in ("teams", "team_members"):
        protect(table)
    audited("teams", label="name")
    audited("team_members")


def downgrade() -> None:
    op.drop_constraint("fk_teams_lead", "teams")
    op.drop_table("team_members")
    op.drop_table("teams")
    op.execute("DROP FUNCTION count_team_members()")


def _tables() -> None:
    op.create_table(
        "teams",
        sa.Column("organization_id", sa.Uuid(), nullable=False),
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("name", sa.String(), nullable=False),
        sa.Column("parent_id", sa.Uuid(), nullable=True),
        sa.Column("lead_id", sa.Uuid(), nullable=True),
        sa.Column("skills", postgresql.JSONB(), nullable=False),
        sa.Column("skill_keys", postgresql.ARRAY(sa.String()), nullable=False),
        sa.Column("description", sa.String(), nullable=False),
        sa.Column("member_count", sa.Integer(), server_default="0", nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("updated_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("revision", sa.Integer(), nullable=False),
        sa.ForeignKeyConstraint(
            ["organization_id"],
            ["organizations.id"],
            name="fk_teams_organization_id",
            ondelete="CASCADE",
        ),
        sa.ForeignKeyConstraint(
            ["organization_id", "parent_id"],
            ["teams.organization_id", "teams.id"],
            name="fk_teams_organization_id_parent_id",
            deferrable=True,
            initially="IMMEDIATE",
        ),
        sa.PrimaryKeyConstraint("organization_id", "id", name="pk_teams"),
    )
    op.create_table(
        "team_members",
        sa.Column("organization_id", sa.Uuid(), nullable=False),
        sa.Column("team_id", sa.Uuid(), nullable=False),
        sa.Column("user_id", sa.Uuid(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(
            ["organization_id"],
            ["organizations.id"],
            name="fk_team_members_organization_id",
            ondelete="CASCADE",
        ),
        sa.ForeignKeyConstraint(
            ["organization_id", "team_id"],
            ["teams.organization_id", "teams.id"],
            name="fk_team_members_organization_id_team_id",
            ondelete="CASCADE",
        ),
        sa.ForeignKeyConstraint(
            ["organization_id", "user_id"],
            ["memberships.organization_id", "memberships.user_id"],
            name="fk_team_members_organization_id_user_id",
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("organization_id", "team_id", "user_id", name="pk_team_members"),
    )
    op.create_foreign_key(
        "fk_teams_lead",
        "teams",
        "team_members",
        ["organization_id", "id", "lead_id"],
        ["organization_id", "team_id", "user_id"],
        ondelete="SET NULL (lead_id)",
    )
    op.create_index("ix_teams_name", "teams", ["organization_id", "name", "id"])
    op.create_index("ix_teams_created", "teams", ["organization_id", "created_at", "id"])
    op.create_index(
        "uq_teams_siblings",
        "teams",
        ["organization_id", "parent_id", sa.text("lower(name)")],
        unique=True,
        postgresql_nulls_not_distinct=True,
    )
    op.create_index(
        "ix_team_members_user", "team_members", ["organization_id", "user_id", "team_id"]
    )
