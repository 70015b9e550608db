"""Label sets know of their document, and decisions of what they were on, what reviews are counted by.

What waits for review has its document's archived mark and its due time; a decision has the schema
and how long it was waited for.
"""

import sqlalchemy as sa
from alembic import op

from migrations.auditing import audited

revision = "202611230505"
down_revision = "202611230504"
branch_labels = None
depends_on = None

_IGNORED = ("claim_expires_at", "review_rank", "comment_count", "provenance")

# Whoever submits has locked the document, and whoever changes the document is followed below.
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
FOLLOW_URGENCY = """
CREATE OR REPLACE FUNCTION follow_urgency() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    UPDATE tag_sets
    SET due_at = coalesce(review_due_at, NEW.due_at),
        review_rank = review_rank_of(
            NEW.priority, coalesce(review_due_at, NEW.due_at, submitted_at))
    WHERE organization_id = NEW.organization_id AND artifact_id = NEW.id AND status = 'submitted';
    RETURN NULL;
END $$
"""
FOLLOW_ARCHIVED = """
CREATE FUNCTION follow_archived_review() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    UPDATE tag_sets SET artifact_archived = NEW.archived
    WHERE organization_id = NEW.organization_id AND artifact_id = NEW.id AND status = 'submitted';
    RETURN NULL;
END $$
"""
ARCHIVED_TRIGGER = """
CREATE TRIGGER follow_archived_review AFTER UPDATE OF archived ON artifacts
FOR EACH ROW WHEN (
    OLD.archived <> NEW.archived AND NEW.label_counts -> 'submitted' IS DISTINCT FROM '0')
EXECUTE FUNCTION follow_archived_review()
"""
# For instances of the release before. What the service itself writes has both.
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
# As it was before this migration (202611212340), for the way back.
FOLLOW_URGENCY_BEFORE = """
CREATE OR REPLACE FUNCTION follow_urgency() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    UPDATE tag_sets
    SET review_rank = review_rank_of(
        NEW.priority, coalesce(review_due_at, NEW.due_at, submitted_at))
    WHERE organization_id = NEW.organization_id AND artifact_id = NEW.id AND status = 'submitted';
    RETURN NULL;
END $$
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
    # The document's entries tell of both.
    audited("tag_sets", ignored=(*_IGNORED, "artifact_archived", "due_at"))
    for statement in (FILL_REVIEW, FILL_INSERTED, FILL_UPDATED, FOLLOW_URGENCY, FOLLOW_ARCHIVED):
        op.execute(statement)
    for statement in (ARCHIVED_TRIGGER, FILL_DECISION, DECISION_TRIGGER):
        op.execute(statement)


def downgrade() -> None:
    op.execute("DROP FUNCTION fill_decision() CASCADE")
    op.execute("DROP FUNCTION follow_archived_review() CASCADE")
    op.execute("DROP FUNCTION fill_review() CASCADE")
    op.execute(FOLLOW_URGENCY_BEFORE)
    audited("tag_sets", ignored=_IGNORED)
    for table, column in (
        ("tag_set_revisions", "waited_microseconds"),
        ("tag_set_revisions", "schema_id"),
        ("tag_sets", "due_at"),
        ("tag_sets", "artifact_archived"),
    ):
        op.drop_column(table, column)
