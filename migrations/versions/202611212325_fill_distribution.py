"""Fill and index the columns for claiming existing documents."""

import sqlalchemy as sa
from alembic import op

from migrations import live

revision = "202611212325"
down_revision = "202611212320"
branch_labels = None
depends_on = None

FILL_ASSIGNEES = """
UPDATE artifact_assignees work
SET schema_id = n.schema_id, priority = n.priority,
    urgent_at = coalesce(n.due_at, n.created_at), labeled_by = n.labeled_by
FROM batch b, artifacts n
WHERE work.organization_id = b.organization_id AND work.artifact_id = b.artifact_id
  AND work.assignee_id = b.assignee_id
  AND n.organization_id = b.organization_id AND n.id = b.artifact_id
"""
LABELED = "s.status IN ('submitted', 'accepted')"
SENT_BACK = "s.status = 'draft' AND s.reason IS NOT NULL"
# Most documents have no tag sets, and are not changed.
UNFILLED = f"""
labeled_by = '{{}}' AND reserved_for = '{{}}' AND EXISTS (
    SELECT FROM tag_sets s
    WHERE s.organization_id = artifacts.organization_id AND s.artifact_id = artifacts.id
      AND ({LABELED} OR {SENT_BACK}))
"""  # noqa: S608 - made of constants
FILL_LABELED = f"""
UPDATE artifacts SET labeled_by = found.labeled_by, reserved_for = found.reserved_for
FROM (
    SELECT b.organization_id, b.id,
           coalesce(array_agg(s.labeler_id) FILTER (WHERE {LABELED}), '{{}}') AS labeled_by,
           coalesce(array_agg(s.labeler_id) FILTER (WHERE {SENT_BACK}), '{{}}') AS reserved_for
    FROM batch b
    JOIN tag_sets s ON s.organization_id = b.organization_id AND s.artifact_id = b.id
    GROUP BY b.organization_id, b.id
) AS found
WHERE artifacts.organization_id = found.organization_id AND artifacts.id = found.id
"""  # noqa: S608 - made of constants
POOL = (
    "status IN ('ready', 'in_progress') AND NOT archived AND claim_user_id IS NULL"
    " AND assignees = '[]' AND schema_id IS NOT NULL"
)


def upgrade() -> None:
    # The trigger of `artifacts` also updates the rows of the assignees.
    live.backfill("artifacts", FILL_LABELED, pending=UNFILLED)
    live.backfill("artifact_assignees", FILL_ASSIGNEES, pending="urgent_at IS NULL")
    live.set_not_null("artifact_assignees", "urgent_at")
    live.create_index(
        "ix_artifacts_pool",
        "artifacts",
        [
            "organization_id",
            "schema_id",
            sa.text("priority DESC"),
            sa.text("coalesce(due_at, created_at)"),
            "id",
        ],
        postgresql_where=sa.text(POOL),
        postgresql_include=["labeled_by", "reserved_for", "language", "due_at", "created_at"],
    )
    # The work of an assignee in the order of urgency.
    live.create_index(
        "ix_artifact_assignees_work",
        "artifact_assignees",
        [
            "organization_id",
            "assignee_id",
            "is_open",
            "schema_id",
            sa.text("priority DESC"),
            "urgent_at",
            "artifact_id",
        ],
        postgresql_include=["labeled_by"],
    )
    live.drop_index("ix_artifact_assignees_of")


def downgrade() -> None:
    live.create_index(
        "ix_artifact_assignees_of",
        "artifact_assignees",
        ["organization_id", "assignee_id", "is_open", "artifact_id"],
    )
    live.drop_index("ix_artifact_assignees_work")
    live.drop_index("ix_artifacts_pool")
    op.alter_column("artifact_assignees", "urgent_at", nullable=True)
