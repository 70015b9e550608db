"""Add review assignments, and review ranks that follow the urgency of documents."""

import sqlalchemy as sa
from alembic import op

revision = "202611212340"
down_revision = "202611212330"
branch_labels = None
depends_on = None

# The same formula as in `app.workflow.tag_sets.service.decisions.review_rank`; a test compares
# them.
RANK = """
CREATE FUNCTION review_rank_of(priority int, at timestamptz) RETURNS bigint
LANGUAGE sql IMMUTABLE AS $$
    SELECT (100 - priority) * CAST(10 ^ 13 AS bigint) + least(greatest(
        CAST(floor(extract(epoch FROM at) * 1000) AS bigint), 0), CAST(10 ^ 13 AS bigint) - 1)
$$
"""
FOLLOW_URGENCY = """
CREATE FUNCTION follow_urgency() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    UPDATE tag_sets
    SET review_rank = review_rank_of(
        NEW.priority, coalesce(review_due_at, NEW.due_at, submitted_at))
    WHERE organization_id = NEW.organization_id AND artifact_id = NEW.id AND status = 'submitted';
    RETURN NULL;
END $$
"""
# Few of the documents whose urgency changes have a submitted tag set. Calling the function for all
# other documents as well would take a fifth of the time of routing a thousand documents.
URGENCY_TRIGGER = """
CREATE TRIGGER follow_urgency AFTER UPDATE OF priority, due_at ON artifacts
FOR EACH ROW WHEN (
    (OLD.priority <> NEW.priority OR OLD.due_at IS DISTINCT FROM NEW.due_at)
    AND NEW.label_counts -> 'submitted' IS DISTINCT FROM '0')
EXECUTE FUNCTION follow_urgency()
"""


def upgrade() -> None:
    op.add_column("tag_sets", sa.Column("assignee_team_id", sa.Uuid()))
    op.add_column("tag_sets", sa.Column("review_due_at", sa.DateTime(timezone=True)))
    op.add_column("tag_sets", sa.Column("escalated_by", sa.Uuid()))
    op.add_column("tag_sets", sa.Column("escalated_at", sa.DateTime(timezone=True)))
    op.add_column("tag_sets", sa.Column("escalation_reason", sa.String()))
    op.create_foreign_key(
        "fk_tag_sets_escalated_by",
        "tag_sets",
        "users",
        ["escalated_by"],
        ["id"],
        postgresql_not_valid=True,
    )
    for statement in (RANK, FOLLOW_URGENCY, URGENCY_TRIGGER):
        op.execute(statement)


def downgrade() -> None:
    op.execute("DROP TRIGGER follow_urgency ON artifacts")
    op.execute("DROP FUNCTION follow_urgency(), review_rank_of(int, timestamptz)")
    op.drop_constraint("fk_tag_sets_escalated_by", "tag_sets")
    for column in (
        "escalation_reason",
        "escalated_at",
        "escalated_by",
        "review_due_at",
        "assignee_team_id",
    ):
        op.drop_column("tag_sets", column)
