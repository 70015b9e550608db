"""Add the columns that are needed to count reviews to tag sets and review decisions.

A submitted tag set gets the archived flag of its document, and the due time of its review or else
of its document. A review decision gets the schema, and the time that the review waited.
"""

import sqlalchemy as sa
from alembic import op

from migrations.auditing import audited

revision = "202611230505"
down_revision = "202611230504"
branch_labels = None
depends_on = None

_IGNORED = ("claim_expires_at", "review_rank", "comment_count", "provenance")

# A submission locks the document. Later changes of the document are copied by the trigger below.
FILL_REVIEW = """
CREATE FUNCTION fill_review() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    SELECT d.archived, d.due_at INTO NEW.artifact_archived, NEW.due_at FROM artifacts d
    WHERE d.organization_id = NEW.organization_id AND d.id = NEW.artifact_id;
    NEW.artifact_archived := coalesce(NEW.artifact_archived, false);
    NEW.due_at := coalesce(NEW.review_due_at, NEW.due_at);
    RETURN NEW;
END $$
"""
FILL_INSERTED = """
CREATE TRIGGER fill_review_insert BEFORE INSERT ON tag_sets
FOR EACH ROW WHEN (NEW.status = 'submitted') EXECUTE FUNCTION fill_review()
"""
FILL_UPDATED = """
CREATE TRIGGER fill_review_update BEFORE UPDATE OF status, review_due_at ON tag_sets
FOR EACH ROW WHEN (NEW.status = 'submitted' AND (OLD.status <> 'submitted'
    OR OLD.review_due_at IS DISTINCT FROM NEW.review_due_at))
EXECUTE FUNCTION fill_review()
"""
# For statements that change none of these columns, or only those of documents without submitted tag
# sets, the function returns after the first query. Tag sets are locked in the order of their ids.
FOLLOW = """
CREATE OR REPLACE FUNCTION follow_urgencies() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
    organizations uuid[];
    documents uuid[];
    locked uuid[];
BEGIN
    SELECT array_agg(DISTINCT n.organization_id), array_agg(n.id) INTO organizations, documents
    FROM new_rows n JOIN old_rows o ON n.organization_id = o.organization_id AND n.id = o.id
    WHERE (o.priority <> n.priority OR o.due_at IS DISTINCT FROM n.due_at{more})
      AND n.label_counts -> 'submitted' IS DISTINCT FROM '0';
    IF documents IS NULL THEN
        RETURN NULL;
    END IF;
    SELECT array_agg(s.id) INTO locked FROM (
        SELECT id FROM tag_sets
        WHERE organization_id = ANY (organizations) AND artifact_id = ANY (documents)
          AND status = 'submitted'
        ORDER BY id FOR NO KEY UPDATE) AS s;
    UPDATE tag_sets SET {set}review_rank = review_rank_of(
        n.priority, coalesce(tag_sets.review_due_at, n.due_at, tag_sets.submitted_at))
    FROM new_rows n
    WHERE tag_sets.organization_id = ANY (organizations) AND tag_sets.id = ANY (locked)
      AND n.organization_id = tag_sets.organization_id AND n.id = tag_sets.artifact_id;
    RETURN NULL;
END $$
"""
FOLLOW_AFTER = FOLLOW.format(
    more=" OR o.archived <> n.archived",
    set="artifact_archived = n.archived, due_at = coalesce(tag_sets.review_due_at, n.due_at), ",
)
# The function before this migration (202611230110), for the downgrade.
FOLLOW_BEFORE = FOLLOW.format(more="", set="")
# For instances of the previous release; instances of this release write both columns.
FILL_DECISION = """
CREATE FUNCTION fill_decision() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    NEW.schema_id := (SELECT s.schema_id FROM tag_sets s
        WHERE s.organization_id = NEW.organization_id AND s.id = NEW.tag_set_id);
    NEW.waited_microseconds := (
        SELECT CAST(extract(epoch FROM NEW.created_at - sent.created_at) * 1000000 AS bigint)
        FROM tag_set_revisions sent WHERE sent.organization_id = NEW.organization_id
          AND sent.tag_set_id = NEW.tag_set_id AND sent.number = NEW.number - 1);
    RETURN NEW;
END $$
"""
DECISION_TRIGGER = """
CREATE TRIGGER fill_decision BEFORE INSERT ON tag_set_revisions
FOR EACH ROW WHEN (NEW.schema_id IS NULL AND NEW.kind IN ('accept', 'correction', 'reject'))
EXECUTE FUNCTION fill_decision()
"""


def upgrade() -> None:
    op.add_column(
        "tag_sets",
        sa.Column("artifact_archived", sa.Boolean(), server_default=sa.false(), nullable=False),
    )
    op.add_column("tag_sets", sa.Column("due_at", sa.DateTime(timezone=True), nullable=True))
    op.add_column("tag_set_revisions", sa.Column("schema_id", sa.Uuid(), nullable=True))
    op.add_column(
        "tag_set_revisions", sa.Column("waited_microseconds", sa.BigInteger(), nullable=True)
    )
    # Both columns are copied from the document, whose changes are recorded.
    audited("tag_sets", ignored=(*_IGNORED, "artifact_archived", "due_at"))
    for statement in (FILL_REVIEW, FILL_INSERTED, FILL_UPDATED, FOLLOW_AFTER):
        op.execute(statement)
    for statement in (FILL_DECISION, DECISION_TRIGGER):
        op.execute(statement)


def downgrade() -> None:
    op.execute("DROP FUNCTION fill_decision() CASCADE")
    op.execute("DROP FUNCTION fill_review() CASCADE")
    op.execute(FOLLOW_BEFORE)
    audited("tag_sets", ignored=_IGNORED)
    for table, column in (
        ("tag_set_revisions", "waited_microseconds"),
        ("tag_set_revisions", "schema_id"),
        ("tag_sets", "due_at"),
        ("tag_sets", "artifact_archived"),
    ):
        op.drop_column(table, column)
