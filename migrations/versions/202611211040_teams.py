"""Add teams and their members."""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

from migrations.auditing import audited, unaudited
from migrations.policies import protect

revision = "202611211040"
down_revision = "202611211030"
branch_labels = None
depends_on = None

# Runs once per statement, so that a thousand new members cause only one update of their team. Teams
# are locked in the order of their ids, so that two users who leave the same teams cannot deadlock.
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

OPEN = "{row}.status IN ('ready', 'in_progress') AND NOT {row}.archived"
# Saves only renew the claim of a document, so they do not fire this trigger.
FOLLOW_ASSIGNEES = f"""
CREATE FUNCTION follow_assignees() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF TG_OP = 'UPDATE' AND OLD.assignees = NEW.assignees THEN
        UPDATE artifact_assignees SET is_open = ({OPEN.format(row="NEW")})
        WHERE organization_id = NEW.organization_id AND artifact_id = NEW.id;
        RETURN NULL;
    END IF;
    DELETE FROM artifact_assignees
    WHERE organization_id = NEW.organization_id AND artifact_id = NEW.id;
    INSERT INTO artifact_assignees (organization_id, artifact_id, assignee_id, is_team, is_open)
    SELECT NEW.organization_id, NEW.id, coalesce(one ->> 'team_id', one ->> 'user_id')::uuid,
           one ->> 'team_id' IS NOT NULL, ({OPEN.format(row="NEW")})
    FROM jsonb_array_elements(NEW.assignees) AS one
    ON CONFLICT DO NOTHING;
    RETURN NULL;
END $$
"""
ON_INSERT = """
CREATE TRIGGER follow_assignees_insert AFTER INSERT ON artifacts
FOR EACH ROW WHEN (NEW.assignees <> '[]') EXECUTE FUNCTION follow_assignees()
"""
ON_UPDATE = f"""
CREATE TRIGGER follow_assignees_update AFTER UPDATE OF assignees, status, archived ON artifacts
FOR EACH ROW WHEN (OLD.assignees <> NEW.assignees OR NEW.assignees <> '[]'
    AND ({OPEN.format(row="OLD")}) <> ({OPEN.format(row="NEW")}))
EXECUTE FUNCTION follow_assignees()
"""
BACKFILL = f"""
INSERT INTO artifact_assignees (organization_id, artifact_id, assignee_id, is_team, is_open)
SELECT organization_id, id, coalesce(one ->> 'team_id', one ->> 'user_id')::uuid,
       one ->> 'team_id' IS NOT NULL, ({OPEN.format(row="artifacts")})
FROM artifacts, jsonb_array_elements(assignees) AS one
WHERE assignees <> '[]'
ON CONFLICT DO NOTHING
"""


def upgrade() -> None:
    _tables()
    _assignees()
    _indexes()
    op.execute(COUNT_MEMBERS)
    for event, rows in (("INSERT", "NEW"), ("DELETE", "OLD")):
        op.execute(
            f"CREATE TRIGGER count_members_{event.lower()} AFTER {event} ON team_members"
            f" REFERENCING {rows} TABLE AS moved"
            " FOR EACH STATEMENT EXECUTE FUNCTION count_team_members()"
        )
    for table in ("teams", "team_members", "artifact_assignees"):
        protect(table)
    audited("teams", label="name", ignored=("member_count", "skill_keys"))
    audited("team_members", label="user_id")


def downgrade() -> None:
    op.drop_index("ix_tag_set_revisions_acts", "tag_set_revisions")
    for name in ("ix_tag_sets_drafts", "ix_tag_sets_assigned", "ix_tag_sets_claimed"):
        op.drop_index(name, "tag_sets")
    _index_claims("id")
    for event in ("insert", "update"):
        op.execute(f"DROP TRIGGER follow_assignees_{event} ON artifacts")
    op.execute("DROP FUNCTION follow_assignees()")
    op.drop_table("artifact_assignees")
    for table in ("teams", "team_members"):
        unaudited(table)
    op.drop_constraint("fk_teams_lead", "teams")
    op.drop_table("team_members")
    op.drop_table("teams")
    op.execute("DROP FUNCTION count_team_members()")


def _assignees() -> None:
    op.create_table(
        "artifact_assignees",
        sa.Column("organization_id", sa.Uuid(), nullable=False),
        sa.Column("artifact_id", sa.Uuid(), nullable=False),
        sa.Column("assignee_id", sa.Uuid(), nullable=False),
        sa.Column("is_team", sa.Boolean(), nullable=False),
        sa.Column("is_open", sa.Boolean(), nullable=False),
        sa.ForeignKeyConstraint(
            ["organization_id"],
            ["organizations.id"],
            name="fk_artifact_assignees_organization_id",
            ondelete="CASCADE",
        ),
        sa.ForeignKeyConstraint(
            ["organization_id", "artifact_id"],
            ["artifacts.organization_id", "artifacts.id"],
            name="fk_artifact_assignees_organization_id_artifact_id",
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint(
            "organization_id", "artifact_id", "assignee_id", name="pk_artifact_assignees"
        ),
    )
    op.create_index(
        "ix_artifact_assignees_of",
        "artifact_assignees",
        ["organization_id", "assignee_id", "is_open", "artifact_id"],
    )
    op.execute(FOLLOW_ASSIGNEES)
    op.execute(ON_INSERT)
    op.execute(ON_UPDATE)
    # The policy of the documents applies to the owner unless the owner is a superuser.
    op.execute("SET LOCAL app.all_organizations = 'on'")
    op.execute(BACKFILL)


def _index_claims(by: str) -> None:
    op.drop_index("ix_artifacts_claimed", "artifacts")
    claimed = sa.text("claim_user_id IS NOT NULL")
    op.create_index(
        "ix_artifacts_claimed", "artifacts", ["organization_id", by], postgresql_where=claimed
    )


def _indexes() -> None:
    _index_claims("claim_user_id")
    for name, column, condition in (
        ("ix_tag_sets_drafts", "labeler_id", "status = 'draft'"),
        (
            "ix_tag_sets_assigned",
            "assignee_id",
            "status = 'submitted' AND assignee_id IS NOT NULL",
        ),
        ("ix_tag_sets_claimed", "claim_user_id", "claim_user_id IS NOT NULL"),
    ):
        op.create_index(
            name, "tag_sets", ["organization_id", column], postgresql_where=sa.text(condition)
        )
    op.create_index(
        "ix_tag_set_revisions_acts",
        "tag_set_revisions",
        ["organization_id", "author_id", "created_at"],
        postgresql_where=sa.text("kind <> 'save'"),
    )


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
