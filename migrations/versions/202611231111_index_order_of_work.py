"""Fill the sort keys of pending work with due dates first, and index the pool by them."""

import sqlalchemy as sa

from migrations import live

revision = "202611231111"
down_revision = "202611231110"
branch_labels = None
depends_on = None

URGENT_AT = "least(timezone('UTC', timezone('UTC', due_at) - interval '87600 hours'), {since})"
OF_DOCUMENT = URGENT_AT.format(since="created_at")
FILL_ASSIGNEES = f"""
UPDATE artifact_assignees work SET urgent_at = {OF_DOCUMENT}
FROM batch b
WHERE work.organization_id = b.organization_id AND work.artifact_id = b.artifact_id
  AND work.assignee_id = b.assignee_id
"""  # noqa: S608 - made of constants
RANK = (
    "review_rank_of(100 - CAST(review_rank / CAST(10 ^ 13 AS bigint) AS int),"
    f" {URGENT_AT.format(since='submitted_at')})"
)
FILL_REVIEWS = f"""
UPDATE tag_sets SET review_rank = {RANK}
FROM batch b WHERE tag_sets.organization_id = b.organization_id AND tag_sets.id = b.id
"""  # noqa: S608 - made of constants
POOL = (
    "status IN ('ready', 'in_progress') AND NOT archived AND claim_user_id IS NULL"
    " AND assignees = '[]' AND schema_id IS NOT NULL"
)
INCLUDED = ["labeled_by", "reserved_for", "language", "due_at", "created_at"]


def upgrade() -> None:
    _index("ix_artifacts_urgent", OF_DOCUMENT)
    live.backfill(
        "artifact_assignees",
        FILL_ASSIGNEES,
        pending=f"due_at IS NOT NULL AND urgent_at IS DISTINCT FROM {OF_DOCUMENT}",
    )
    live.backfill(
        "tag_sets",
        FILL_REVIEWS,
        pending=f"status = 'submitted' AND due_at IS NOT NULL AND review_rank <> {RANK}",
    )
    live.drop_index("ix_artifacts_pool")


def downgrade() -> None:
    _index("ix_artifacts_pool", "coalesce(due_at, created_at)")
    live.drop_index("ix_artifacts_urgent")


def _index(name: str, order: str) -> None:
    live.create_index(
        name,
        "artifacts",
        ["organization_id", "schema_id", sa.text("priority DESC"), sa.text(order), "id"],
        postgresql_where=sa.text(POOL),
        postgresql_include=INCLUDED,
    )
