"""Update the urgency of tag sets by statement, and lock them in one order.

The trigger locked them in the order in which the documents were written, and assignments of reviews
lock them in the order of their ids, which caused deadlocks.
"""

from alembic import op

revision = "202611230110"
down_revision = "202611230105"
branch_labels = None
depends_on = None

# For statements that change no urgency, or only that of documents without submitted tag sets, the
# function returns after the first query.
FOLLOW = """
CREATE FUNCTION follow_urgencies() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
    organizations uuid[];
    documents uuid[];
    locked uuid[];
BEGIN
    SELECT array_agg(DISTINCT n.organization_id), array_agg(n.id) INTO organizations, documents
    FROM new_rows n JOIN old_rows o ON n.organization_id = o.organization_id AND n.id = o.id
    WHERE (o.priority <> n.priority OR o.due_at IS DISTINCT FROM n.due_at)
      AND n.label_counts -> 'submitted' IS DISTINCT FROM '0';
    IF documents IS NULL THEN
        RETURN NULL;
    END IF;
    SELECT array_agg(s.id) INTO locked FROM (
        SELECT id FROM tag_sets
        WHERE organization_id = ANY (organizations) AND artifact_id = ANY (documents)
          AND status = 'submitted'
        ORDER BY id FOR NO KEY UPDATE) AS s;
    UPDATE tag_sets SET review_rank = review_rank_of(
        n.priority, coalesce(tag_sets.review_due_at, n.due_at, tag_sets.submitted_at))
    FROM new_rows n
    WHERE tag_sets.organization_id = ANY (organizations) AND tag_sets.id = ANY (locked)
      AND n.organization_id = tag_sets.organization_id AND n.id = tag_sets.artifact_id;
    RETURN NULL;
END $$
"""
TRIGGER = """
CREATE TRIGGER follow_urgencies AFTER UPDATE ON artifacts
REFERENCING OLD TABLE AS old_rows NEW TABLE AS new_rows
FOR EACH STATEMENT EXECUTE FUNCTION follow_urgencies()
"""

# The function and trigger before this migration (202611212340), for the downgrade.
FOLLOW_BY_ROW = """
CREATE FUNCTION follow_urgency() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    UPDATE tag_sets
    SET review_rank = review_rank_of(
        NEW.priority, coalesce(review_due_at, NEW.due_at, submitted_at))
    WHERE organization_id = NEW.organization_id AND artifact_id = NEW.id AND status = 'submitted';
    RETURN NULL;
END $$
"""
ROW_TRIGGER = """
CREATE TRIGGER follow_urgency AFTER UPDATE OF priority, due_at ON artifacts
FOR EACH ROW WHEN (
    (OLD.priority <> NEW.priority OR OLD.due_at IS DISTINCT FROM NEW.due_at)
    AND NEW.label_counts -> 'submitted' IS DISTINCT FROM '0')
EXECUTE FUNCTION follow_urgency()
"""


def upgrade() -> None:
    op.execute(FOLLOW)
    op.execute("DROP TRIGGER follow_urgency ON artifacts")
    # Only the trigger called it.
    op.execute("-- squawk-ignore ban-drop-function\nDROP FUNCTION follow_urgency()")
    op.execute(TRIGGER)


def downgrade() -> None:
    op.execute("DROP TRIGGER follow_urgencies ON artifacts")
    op.execute("DROP FUNCTION follow_urgencies()")
    op.execute(FOLLOW_BY_ROW)
    op.execute(ROW_TRIGGER)
