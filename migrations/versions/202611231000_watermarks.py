"""Add watermarks, and the triggers that prevent earlier times of tag sets.

See `app.kit.watermarks`: a period that ends at the watermark stays complete.
"""

import sqlalchemy as sa
from alembic import op

from migrations.policies import protect

revision = "202611231000"
down_revision = "202611230806"
branch_labels = None
depends_on = None

# Runs when a transaction commits. The lock shows that the transaction is committing, until the
# commit is visible. No transaction takes it exclusively, so nobody waits for it. The watermark is
# read after the lock was taken. A watermark in the far future was set while the server's clock was
# wrong, and must not change the times of later rows.
KEEP = """
CREATE FUNCTION keep_periods_complete() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
    bound text := current_setting('app.organization_id', true);
    reached timestamptz;
    later timestamptz;
BEGIN
    PERFORM pg_advisory_xact_lock_shared(
        hashtextextended('commit ' || CAST(NEW.organization_id AS text), 0));
    IF bound IS DISTINCT FROM CAST(NEW.organization_id AS text) THEN
        PERFORM set_config('app.organization_id', CAST(NEW.organization_id AS text), true);
    END IF;
    SELECT w.at INTO reached FROM watermarks w WHERE w.organization_id = NEW.organization_id;
    later := greatest(reached, clock_timestamp());
    IF reached < clock_timestamp() + interval '1 hour' THEN
        IF TG_OP = 'INSERT' AND NEW.created_at < reached THEN
            UPDATE tag_sets t SET created_at = later
            WHERE t.organization_id = NEW.organization_id AND t.id = NEW.id
              AND t.created_at < reached;
        END IF;
        IF NEW.decided_at < reached THEN
            UPDATE tag_sets t SET decided_at = later
            WHERE t.organization_id = NEW.organization_id AND t.id = NEW.id
              AND t.decided_at < reached;
        END IF;
    END IF;
    IF bound IS DISTINCT FROM CAST(NEW.organization_id AS text) THEN
        PERFORM set_config('app.organization_id', coalesce(bound, ''), true);
    END IF;
    RETURN NULL;
END $$
"""
ON_INSERT = """
CREATE CONSTRAINT TRIGGER keep_created_complete AFTER INSERT ON tag_sets
DEFERRABLE INITIALLY DEFERRED
FOR EACH ROW EXECUTE FUNCTION keep_periods_complete()
"""
ON_DECISION = """
CREATE CONSTRAINT TRIGGER keep_decided_complete AFTER UPDATE OF decided_at ON tag_sets
DEFERRABLE INITIALLY DEFERRED
FOR EACH ROW WHEN (NEW.decided_at IS NOT NULL AND NEW.decided_at IS DISTINCT FROM OLD.decided_at)
EXECUTE FUNCTION keep_periods_complete()
"""


def upgrade() -> None:
    op.create_table(
        "watermarks",
        sa.Column("organization_id", sa.Uuid(), nullable=False),
        sa.Column("at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(
            ["organization_id"],
            ["organizations.id"],
            name="fk_watermarks_organization_id",
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("organization_id", name="pk_watermarks"),
    )
    protect("watermarks")
    for statement in (KEEP, ON_INSERT, ON_DECISION):
        op.execute(statement)


def downgrade() -> None:
    op.execute("DROP FUNCTION keep_periods_complete() CASCADE")
    op.drop_table("watermarks")
