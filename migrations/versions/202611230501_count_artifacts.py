"""Count documents, and copy the columns that filters need to the rows of assignees."""

import sqlalchemy as sa
from alembic import op

from migrations.counting import Cube, Source, as_hour, as_text, counted, uncounted

revision = "202611230501"
down_revision = "202611230500"
branch_labels = None
depends_on = None

STATE = ("schema_id", "status", "archived", "gold", "assigned")
ARTIFACTS = Source(
    "artifacts",
    {
        "schema_id": as_text("r.schema_id"),
        "status": "r.status",
        "archived": "CAST(r.archived AS text)",
        "gold": "CAST(r.gold AS text)",
        "assigned": "CAST(r.assignees <> '[]' AS text)",
        "media_type": "r.media_type",
        "language": as_text("r.language"),
        "created": as_hour("r.created_at"),
        "due": as_hour("r.due_at"),
    },
    (
        Cube("artifacts", STATE),
        Cube("artifacts.types", (*STATE, "media_type", "language")),
        Cube("artifacts.created.month", STATE, bucket="created", length=7),
        Cube("artifacts.created.day", STATE, bucket="created", length=10),
        Cube("artifacts.created.hour", STATE, bucket="created", length=13),
        Cube("artifacts.due.month", STATE, bucket="due", length=7),
        Cube("artifacts.due.day", STATE, bucket="due", length=10),
        Cube("artifacts.due.hour", ("status", "archived"), bucket="due", length=13),
    ),
)
COLUMNS = (
    ("status", sa.String()),
    ("archived", sa.Boolean()),
    ("created_at", sa.DateTime(timezone=True)),
    ("due_at", sa.DateTime(timezone=True)),
    ("places_taken", sa.Integer()),
    ("assignees_hash", sa.String()),
)

# The columns of an assignee's row that are copied from its document `n`.
BEFORE = {
    "is_open": "n.status IN ('ready', 'in_progress') AND NOT n.archived",
    "schema_id": "n.schema_id",
    "priority": "n.priority",
    "urgent_at": "coalesce(n.due_at, n.created_at)",
    "labeled_by": "n.labeled_by",
}
AFTER = {
    **BEFORE,
    "status": "n.status",
    "archived": "n.archived",
    "created_at": "n.created_at",
    "due_at": "n.due_at",
    "places_taken": "cardinality(n.labeled_by) + cardinality(n.reserved_for)",
    "assignees_hash": "md5(CAST(n.assignees AS text))",
}
STILL_NAMED = """
    changed.assignees @> jsonb_build_array(
        jsonb_build_object(CASE WHEN is_team THEN 'team_id' ELSE 'user_id' END, assignee_id))
"""
# Runs once per statement, whatever the number of changed documents. A full join is never executed
# as nested loops: PostgreSQL may use a plan for one document again for a hundred thousand
# documents.
FOLLOW = """
CREATE OR REPLACE FUNCTION follow_assignees() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF TG_OP = 'INSERT' THEN
        {insert}
        FROM (SELECT {shown} FROM new_rows n WHERE n.assignees <> '[]') AS changed
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
        SELECT {shown}, n.assignees IS DISTINCT FROM o.assignees AS named,
            o.assignees <> '[]' AS had
        FROM new_rows n FULL JOIN old_rows o
          ON n.organization_id = o.organization_id AND n.id = o.id
        WHERE (n.assignees, {watched_new}) IS DISTINCT FROM (o.assignees, {watched_old})
    ), gone AS (
        DELETE FROM artifact_assignees work USING changed
        WHERE work.organization_id = changed.organization_id AND work.artifact_id = changed.id
          AND changed.had AND changed.named AND NOT {still}
    ), moved AS (
        UPDATE artifact_assignees work SET {set}
        FROM changed
        WHERE work.organization_id = changed.organization_id AND work.artifact_id = changed.id
          AND changed.had AND {still}
          AND ({work}) IS DISTINCT FROM ({moved})
    )
    {insert}
    FROM changed CROSS JOIN jsonb_array_elements(changed.assignees) AS one
    WHERE changed.named
    ON CONFLICT DO NOTHING;
    RETURN NULL;
END $$
"""


def follow(columns: dict[str, str]) -> str:
    """Return the trigger function that maintains these columns of the rows of assignees."""
    names = ", ".join(columns)
    shown = ", ".join(f"{of} AS {name}" for name, of in columns.items())
    watched = ", ".join(of for name, of in columns.items() if name != "assignees_hash")
    return FOLLOW.format(
        insert=f"""
        INSERT INTO artifact_assignees
            (organization_id, artifact_id, assignee_id, is_team, {names})
        SELECT changed.organization_id, changed.id,
            coalesce(one ->> 'team_id', one ->> 'user_id')::uuid, one ->> 'team_id' IS NOT NULL,
            {names}""",  # noqa: S608 - made of constants
        shown=f"n.organization_id, n.id, n.assignees, {shown}",
        watched_new=watched,
        watched_old=watched.replace("n.", "o."),
        still=STILL_NAMED,
        set=", ".join(f"{name} = changed.{name}" for name in columns),
        work=", ".join(f"work.{name}" for name in columns),
        moved=", ".join(f"changed.{name}" for name in columns),
    )


def upgrade() -> None:
    for name, kind in COLUMNS:
        op.add_column("artifact_assignees", sa.Column(name, kind, nullable=True))
    op.execute(follow(AFTER))
    counted("artifacts", ARTIFACTS)


def downgrade() -> None:
    uncounted("artifacts")
    op.execute(follow(BEFORE))
    for name, _ in COLUMNS:
        op.drop_column("artifact_assignees", name)
