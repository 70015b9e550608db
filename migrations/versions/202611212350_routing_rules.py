"""Add rules that assign documents to teams and users."""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

from migrations.auditing import audited, unaudited
from migrations.policies import protect

revision = "202611212350"
down_revision = "202611212345"
branch_labels = None
depends_on = None

# Requests that change a rule increase its revision; a foreign key that sets a column to null does
# not.
DISABLE = """
CREATE FUNCTION disable_routing_rule() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    NEW.disabled_reason := CASE
        WHEN OLD.team_id IS NOT NULL AND NEW.team_id IS NULL THEN 'team_deleted'
        WHEN OLD.user_id IS NOT NULL AND NEW.user_id IS NULL THEN 'member_removed'
        ELSE 'schema_deleted' END;
    NEW.enabled := false;
    NEW.revision := OLD.revision + 1;
    NEW.updated_at := now();
    RETURN NEW;
END $$
"""
ON_LOSS = """
CREATE TRIGGER disable_routing_rule BEFORE UPDATE OF team_id, user_id, schema_id ON routing_rules
FOR EACH ROW WHEN (NEW.revision = OLD.revision AND (
    OLD.team_id IS NOT NULL AND NEW.team_id IS NULL
    OR OLD.user_id IS NOT NULL AND NEW.user_id IS NULL
    OR OLD.schema_id IS NOT NULL AND NEW.schema_id IS NULL))
EXECUTE FUNCTION disable_routing_rule()
"""


def upgrade() -> None:
    _rules()
    _routings()
    op.execute(DISABLE)
    op.execute(ON_LOSS)
    for table in ("routing_rules", "artifact_routings"):
        protect(table)
    audited(
        "routing_rules",
        label="name",
        ignored=("match_count", "last_matched_at", "cursor_user_id"),
    )


def downgrade() -> None:
    unaudited("routing_rules")
    op.drop_table("artifact_routings")
    op.drop_table("routing_rules")
    op.execute("DROP FUNCTION disable_routing_rule()")


def _names(column: str, table: str, key: str) -> sa.ForeignKeyConstraint:
    return sa.ForeignKeyConstraint(
        ["organization_id", column],
        [f"{table}.organization_id", f"{table}.{key}"],
        name=f"fk_routing_rules_organization_id_{column}",
        ondelete=f"SET NULL ({column})",
    )


def _organization(table: str) -> sa.ForeignKeyConstraint:
    return sa.ForeignKeyConstraint(
        ["organization_id"],
        ["organizations.id"],
        name=f"fk_{table}_organization_id",
        ondelete="CASCADE",
    )


def _rules() -> None:
    op.create_table(
        "routing_rules",
        sa.Column("organization_id", sa.Uuid(), nullable=False),
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("name", sa.String(), nullable=False),
        sa.Column("enabled", sa.Boolean(), nullable=False),
        sa.Column("disabled_reason", sa.String(), nullable=True),
        sa.Column("position", sa.Integer(), nullable=False),
        sa.Column("conditions", postgresql.JSONB(), nullable=False),
        sa.Column("team_id", sa.Uuid(), nullable=True),
        sa.Column("user_id", sa.Uuid(), nullable=True),
        sa.Column("strategy", sa.String(), nullable=True),
        sa.Column("priority", sa.Integer(), nullable=True),
        sa.Column("due_in_hours", sa.Integer(), nullable=True),
        sa.Column("schema_id", sa.Uuid(), nullable=True),
        sa.Column("stop", sa.Boolean(), nullable=False),
        sa.Column("match_count", sa.BigInteger(), server_default="0", nullable=False),
        sa.Column("last_matched_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("cursor_user_id", sa.Uuid(), nullable=True),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("updated_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("revision", sa.Integer(), nullable=False),
        _organization("routing_rules"),
        _names("team_id", "teams", "id"),
        _names("user_id", "memberships", "user_id"),
        _names("schema_id", "schemas", "id"),
        sa.PrimaryKeyConstraint("organization_id", "id", name="pk_routing_rules"),
        sa.UniqueConstraint(
            "organization_id",
            "position",
            name="uq_routing_rules_position",
            deferrable=True,
            initially="IMMEDIATE",
        ),
    )
    for name in ("team", "user", "schema"):
        op.create_index(
            f"ix_routing_rules_{name}", "routing_rules", ["organization_id", f"{name}_id"]
        )


def _routings() -> None:
    op.create_table(
        "artifact_routings",
        sa.Column("organization_id", sa.Uuid(), nullable=False),
        sa.Column("artifact_id", sa.Uuid(), nullable=False),
        sa.Column("rule_id", sa.Uuid(), nullable=False),
        sa.Column("rule_name", sa.String(), nullable=False),
        sa.Column("at", sa.DateTime(timezone=True), server_default=sa.func.now(), nullable=False),
        sa.Column("outcome", postgresql.JSONB(), nullable=False),
        _organization("artifact_routings"),
        sa.ForeignKeyConstraint(
            ["organization_id", "artifact_id"],
            ["artifacts.organization_id", "artifacts.id"],
            name="fk_artifact_routings_organization_id_artifact_id",
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint(
            "organization_id", "artifact_id", "rule_id", name="pk_artifact_routings"
        ),
    )
