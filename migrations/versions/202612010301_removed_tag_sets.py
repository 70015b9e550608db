"""Record accepted tag sets that are reopened or deleted, so that exports can list them."""

import sqlalchemy as sa
from alembic import op

from migrations.policies import protect

revision = "202612010301"
down_revision = "202612010300"
branch_labels = None
depends_on = None

TABLE = "removed_tag_sets"
# Records nothing for closed organizations, which have no more exports, and whose rows are being
# erased. While an organization is being deleted, its row no longer exists.
RECORD = """
CREATE FUNCTION record_removed_tag_set() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO removed_tag_sets AS r (organization_id, tag_set_id, artifact_id, schema_id,
        schema_version_id, labeler_id, removed_at)
    SELECT OLD.organization_id, OLD.id, OLD.artifact_id, OLD.schema_id, OLD.schema_version_id,
        OLD.labeler_id, clock_timestamp()
    WHERE EXISTS (SELECT FROM organizations o
                  WHERE o.id = OLD.organization_id AND o.status NOT IN ('closed', 'erased'))
    ON CONFLICT (organization_id, tag_set_id) DO UPDATE SET removed_at = excluded.removed_at;
    RETURN NULL;
END $$
"""
ON_REOPEN = """
CREATE TRIGGER record_reopened AFTER UPDATE OF status ON tag_sets
FOR EACH ROW WHEN (OLD.status = 'accepted' AND NEW.status <> 'accepted')
EXECUTE FUNCTION record_removed_tag_set()
"""
ON_DELETE = """
CREATE TRIGGER record_deleted AFTER DELETE ON tag_sets
FOR EACH ROW WHEN (OLD.status = 'accepted')
EXECUTE FUNCTION record_removed_tag_set()
"""
# The same rule as for tag sets (202611231000): no time before the watermark is committed.
KEEP = """
CREATE FUNCTION keep_removals_complete() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
    bound text := current_setting('app.organization_id', true);
    reached timestamptz;
BEGIN
    PERFORM pg_advisory_xact_lock_shared(
        hashtextextended('commit ' || CAST(NEW.organization_id AS text), 0));
    IF bound IS DISTINCT FROM CAST(NEW.organization_id AS text) THEN
        PERFORM set_config('app.organization_id', CAST(NEW.organization_id AS text), true);
    END IF;
    SELECT w.at INTO reached FROM watermarks w WHERE w.organization_id = NEW.organization_id;
    IF NEW.removed_at < reached AND reached < clock_timestamp() + interval '1 hour' THEN
        UPDATE removed_tag_sets r SET removed_at = greatest(reached, clock_timestamp())
        WHERE r.organization_id = NEW.organization_id AND r.tag_set_id = NEW.tag_set_id
          AND r.removed_at < reached;
    END IF;
    IF bound IS DISTINCT FROM CAST(NEW.organization_id AS text) THEN
        PERFORM set_config('app.organization_id', coalesce(bound, ''), true);
    END IF;
    RETURN NULL;
END $$
"""
ON_RECORD = """
CREATE CONSTRAINT TRIGGER keep_complete AFTER INSERT OR UPDATE OF removed_at ON removed_tag_sets
DEFERRABLE INITIALLY DEFERRED
FOR EACH ROW EXECUTE FUNCTION keep_removals_complete()
"""


def upgrade() -> None:
    op.create_table(
        TABLE,
        sa.Column("organization_id", sa.Uuid(), nullable=False),
        sa.Column("tag_set_id", sa.Uuid(), nullable=False),
        sa.Column("artifact_id", sa.Uuid(), nullable=False),
        sa.Column("schema_id", sa.Uuid(), nullable=False),
        sa.Column("schema_version_id", sa.Uuid(), nullable=False),
        sa.Column("labeler_id", sa.Uuid(), nullable=True),
        sa.Column("removed_at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(
            ["organization_id"],
            ["organizations.id"],
            name=f"fk_{TABLE}_organization_id",
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("organization_id", "tag_set_id", name=f"pk_{TABLE}"),
    )
    op.create_index(f"ix_{TABLE}_list", TABLE, ["organization_id", "removed_at", "tag_set_id"])
    op.create_index(f"ix_{TABLE}_age", TABLE, ["removed_at"])
    protect(TABLE)
    for statement in (RECORD, KEEP, ON_RECORD, ON_REOPEN, ON_DELETE):
        op.execute(statement)


def downgrade() -> None:
    op.execute("DROP FUNCTION record_removed_tag_set() CASCADE")
    op.drop_table(TABLE)
    op.execute("DROP FUNCTION keep_removals_complete()")
