"""Add skips and the columns for claiming documents, and maintain assignees by statement."""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

from migrations.auditing import audited
from migrations.policies import protect

revision = "202611212320"
down_revision = "202611212310"
branch_labels = None
depends_on = None
UNSAFE = (
    (
        "ban-drop-default",
        "artifact_assignees ALTER COLUMN priority",
        "Only a trigger writes this table, and its function is replaced in the same transaction.",
    ),
)

OPEN = "({row}.status IN ('ready', 'in_progress') AND NOT {row}.archived)"
URGENT = "coalesce({row}.due_at, {row}.created_at)"
NAMED_IN = "coalesce(one ->> 'team_id', one ->> 'user_id')::uuid, one ->> 'team_id' IS NOT NULL"
STILL_NAMED = """
    changed.assignees @> jsonb_build_array(
        jsonb_build_object(CASE WHEN is_team THEN 'team_id' ELSE 'user_id' END, assignee_id))
"""
SHOWN = f"""
    n.organization_id, n.id, n.assignees, {OPEN.format(row="n")} AS is_open, n.schema_id,
    n.priority, {URGENT.format(row="n")} AS urgent_at, n.labeled_by
"""
INSERT = f"""
    INSERT INTO artifact_assignees (organization_id, artifact_id, assignee_id, is_team, is_open,
                                    schema_id, priority, urgent_at, labeled_by)
    SELECT changed.organization_id, changed.id, {NAMED_IN}, changed.is_open, changed.schema_id,
           changed.priority, changed.urgent_at, changed.labeled_by
"""
# Runs once per statement, whatever the number of changed documents. A full join is never executed
# as nested loops: PostgreSQL may use a plan for one document again for a hundred thousand
# documents.
FOLLOW = f"""
CREATE OR REPLACE FUNCTION follow_assignees() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF TG_OP = 'INSERT' THEN
        {INSERT}
        FROM (SELECT {SHOWN} FROM new_rows n WHERE n.assignees <> '[]') AS changed
        CROSS JOIN jsonb_array_elements(changed.assignees) AS one
        ON CONFLICT DO NOTHING;
        RETURN NULL;
    END IF;
    -- Saves and claims of what nobody is assigned to are most of what comes here.
    IF NOT EXISTS (SELECT FROM new_rows WHERE assignees <> '[]')
       AND NOT EXISTS (SELECT FROM old_rows WHERE assignees <> '[]') THEN
        RETURN NULL;
    END IF;
    WITH changed AS MATERIALIZED (
        SELECT {SHOWN}, n.assignees IS DISTINCT FROM o.assignees AS named,
            o.assignees <> '[]' AS had
        FROM new_rows n FULL JOIN old_rows o
          ON n.organization_id = o.organization_id AND n.id = o.id
        WHERE (n.assignees, {OPEN.format(row="n")}, n.schema_id, n.priority,
               {URGENT.format(row="n")}, n.labeled_by)
            IS DISTINCT FROM
              (o.assignees, {OPEN.format(row="o")}, o.schema_id, o.priority,
               {URGENT.format(row="o")}, o.labeled_by)
    ), gone AS (
        DELETE FROM artifact_assignees work USING changed
        WHERE work.organization_id = changed.organization_id AND work.artifact_id = changed.id
          AND changed.had AND changed.named AND NOT {STILL_NAMED}
    ), moved AS (
        UPDATE artifact_assignees work SET
            is_open = changed.is_open, schema_id = changed.schema_id,
            priority = changed.priority, urgent_at = changed.urgent_at,
            labeled_by = changed.labeled_by
        FROM changed
        WHERE work.organization_id = changed.organization_id AND work.artifact_id = changed.id
          AND changed.had AND {STILL_NAMED}
          AND (work.is_open, work.schema_id, work.priority, work.urgent_at, work.labeled_by)
            IS DISTINCT FROM
              (changed.is_open, changed.schema_id, changed.priority, changed.urgent_at,
               changed.labeled_by)
    )
    {INSERT}
    FROM changed CROSS JOIN jsonb_array_elements(changed.assignees) AS one
    WHERE changed.named
    ON CONFLICT DO NOTHING;
    RETURN NULL;
END $$
"""  # noqa: S608 - made of constants
TRIGGERS = {
    "insert": "NEW TABLE AS new_rows",
    "update": "OLD TABLE AS old_rows NEW TABLE AS new_rows",
}
# Code that changes tag sets also updates these two columns (`artifacts.refresh_statuses`).
# Instances of the previous release do not; they may still be running, and do not set `app.release`.
# A later release removes the function and its triggers.
FOLLOW_LABEL_SETS = """
CREATE FUNCTION follow_label_sets() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
    organizations uuid[];
    documents uuid[];
BEGIN
    IF TG_OP = 'INSERT' THEN
        SELECT array_agg(DISTINCT organization_id), array_agg(DISTINCT artifact_id)
        INTO organizations, documents FROM new_rows;
    ELSIF TG_OP = 'DELETE' THEN
        SELECT array_agg(DISTINCT organization_id), array_agg(DISTINCT artifact_id)
        INTO organizations, documents FROM old_rows;
    ELSE
        SELECT array_agg(DISTINCT n.organization_id), array_agg(DISTINCT n.artifact_id)
        INTO organizations, documents
        FROM new_rows n JOIN old_rows o ON n.organization_id = o.organization_id AND n.id = o.id
        WHERE (n.status, n.reason, n.labeler_id) IS DISTINCT FROM (o.status, o.reason, o.labeler_id);
    END IF;
    IF documents IS NULL THEN
        RETURN NULL;
    END IF;
    UPDATE artifacts SET labeled_by = found.labeled_by, reserved_for = found.reserved_for
    FROM (
        SELECT d.organization_id, d.id,
            coalesce(array_agg(s.labeler_id)
                FILTER (WHERE s.status IN ('submitted', 'accepted')), '{}') AS labeled_by,
            coalesce(array_agg(s.labeler_id)
                FILTER (WHERE s.status = 'draft' AND s.reason IS NOT NULL), '{}') AS reserved_for
        FROM artifacts d
        LEFT JOIN tag_sets s ON s.organization_id = d.organization_id AND s.artifact_id = d.id
        WHERE d.organization_id = ANY (organizations) AND d.id = ANY (documents)
        GROUP BY d.organization_id, d.id
    ) AS found
    WHERE artifacts.organization_id = found.organization_id AND artifacts.id = found.id
      AND (artifacts.labeled_by, artifacts.reserved_for)
        IS DISTINCT FROM (found.labeled_by, found.reserved_for);
    RETURN NULL;
END $$
"""
ANY_ROWS = {**TRIGGERS, "delete": "OLD TABLE AS old_rows"}

# The function and triggers before this migration (202611211040), for the downgrade.
FOLLOW_BY_ROW = f"""
CREATE OR REPLACE FUNCTION follow_assignees() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF TG_OP = 'UPDATE' AND OLD.assignees = NEW.assignees THEN
        UPDATE artifact_assignees SET is_open = {OPEN.format(row="NEW")}
        WHERE organization_id = NEW.organization_id AND artifact_id = NEW.id;
        RETURN NULL;
    END IF;
    DELETE FROM artifact_assignees
    WHERE organization_id = NEW.organization_id AND artifact_id = NEW.id;
    INSERT INTO artifact_assignees (organization_id, artifact_id, assignee_id, is_team, is_open)
    SELECT NEW.organization_id, NEW.id, coalesce(one ->> 'team_id', one ->> 'user_id')::uuid,
           one ->> 'team_id' IS NOT NULL, {OPEN.format(row="NEW")}
    FROM jsonb_array_elements(NEW.assignees) AS one
    ON CONFLICT DO NOTHING;
    RETURN NULL;
END $$
"""
INSERT_BY_ROW = """
CREATE TRIGGER follow_assignees_insert AFTER INSERT ON artifacts
FOR EACH ROW WHEN (NEW.assignees <> '[]') EXECUTE FUNCTION follow_assignees()
"""
UPDATE_BY_ROW = f"""
CREATE TRIGGER follow_assignees_update AFTER UPDATE OF assignees, status, archived ON artifacts
FOR EACH ROW WHEN (OLD.assignees <> NEW.assignees OR NEW.assignees <> '[]'
    AND {OPEN.format(row="OLD")} <> {OPEN.format(row="NEW")})
EXECUTE FUNCTION follow_assignees()
"""


def upgrade() -> None:
    _columns()
    _skips()
    _follow()
    op.execute(FOLLOW_LABEL_SETS)
    for event, tables in ANY_ROWS.items():
        op.execute(
            f"CREATE TRIGGER follow_label_sets_{event} AFTER {event.upper()} ON tag_sets"
            f" REFERENCING {tables} FOR EACH STATEMENT"
            " WHEN (coalesce(current_setting('app.release', true), '') = '')"
            " EXECUTE FUNCTION follow_label_sets()"
        )
    # From here on, triggers set the priority of new rows; `202611212325` fills the existing rows.
    op.alter_column("artifact_assignees", "priority", server_default=None)


def downgrade() -> None:
    op.drop_table("artifact_skips")
    for event in ANY_ROWS:
        op.execute(f"DROP TRIGGER follow_label_sets_{event} ON tag_sets")
    op.execute("DROP FUNCTION follow_label_sets()")
    for event in TRIGGERS:
        op.execute(f"DROP TRIGGER follow_assignees_{event} ON artifacts")
    op.execute(FOLLOW_BY_ROW)
    op.execute(INSERT_BY_ROW)
    op.execute(UPDATE_BY_ROW)
    for column in ("schema_id", "priority", "urgent_at", "labeled_by"):
        op.drop_column("artifact_assignees", column)
    for column in ("labeled_by", "reserved_for"):
        op.drop_column("artifacts", column)
    audited("artifacts", label="name", ignored=("claim_expires_at", "label_counts"))


def _columns() -> None:
    people = postgresql.ARRAY(sa.Uuid())
    for name in ("labeled_by", "reserved_for"):
        column = sa.Column(name, people, server_default="{}", nullable=False)
        op.add_column("artifacts", column)
    # These columns are derived from tag sets, whose changes are recorded.
    ignored = ("claim_expires_at", "label_counts", "labeled_by", "reserved_for")
    audited("artifacts", label="name", ignored=ignored)
    for column in (
        sa.Column("schema_id", sa.Uuid(), nullable=True),
        sa.Column("priority", sa.Integer(), server_default="50", nullable=False),
        sa.Column("urgent_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("labeled_by", people, server_default="{}", nullable=False),
    ):
        op.add_column("artifact_assignees", column)


def _skips() -> None:
    op.create_table(
        "artifact_skips",
        sa.Column("organization_id", sa.Uuid(), nullable=False),
        sa.Column("artifact_id", sa.Uuid(), nullable=False),
        sa.Column("user_id", sa.Uuid(), nullable=False),
        sa.Column("reason", sa.String(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(
            ["organization_id"],
            ["organizations.id"],
            name="fk_artifact_skips_organization_id",
            ondelete="CASCADE",
        ),
        sa.ForeignKeyConstraint(
            ["organization_id", "artifact_id"],
            ["artifacts.organization_id", "artifacts.id"],
            name="fk_artifact_skips_organization_id_artifact_id",
            ondelete="CASCADE",
        ),
        sa.ForeignKeyConstraint(
            ["user_id"], ["users.id"], name="fk_artifact_skips_user_id", ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint(
            "organization_id", "artifact_id", "user_id", name="pk_artifact_skips"
        ),
    )
    protect("artifact_skips")


def _follow() -> None:
    for event in TRIGGERS:
        op.execute(f"DROP TRIGGER follow_assignees_{event} ON artifacts")
    op.execute(FOLLOW)
    for event, tables in TRIGGERS.items():
        op.execute(
            f"CREATE TRIGGER follow_assignees_{event} AFTER {event.upper()} ON artifacts"
            f" REFERENCING {tables} FOR EACH STATEMENT EXECUTE FUNCTION follow_assignees()"
        )
