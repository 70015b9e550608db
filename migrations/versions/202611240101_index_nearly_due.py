"""Fill the sort keys of pending work that is due within 24 hours, and index them."""

import sqlalchemy as sa

from migrations import live

revision = "202611240101"
down_revision = "202611240100"
branch_labels = None
depends_on = None

URGENCY = "(CASE WHEN nearly_due THEN 101 ELSE priority END) DESC"
URGENT_AT = (
    "(CASE WHEN nearly_due THEN timezone('UTC', timezone('UTC', due_at)"
    " - priority::float8 * interval '1 millisecond') ELSE created_at END)"
)
OLD_URGENT_AT = "least(timezone('UTC', timezone('UTC', {due}) - interval '87600 hours'), {since})"
POOL = (
    "status IN ('ready', 'in_progress') AND NOT archived AND claim_user_id IS NULL"
    " AND assignees = '[]' AND schema_id IS NOT NULL"
)
INCLUDED = ["labeled_by", "reserved_for", "language"]
# The keys of nearly due documents are set later, when the periodic job marks the documents.
FILL_ASSIGNEES = """
UPDATE artifact_assignees work SET urgent_at = work.created_at
FROM batch b
WHERE work.organization_id = b.organization_id AND work.artifact_id = b.artifact_id
  AND work.assignee_id = b.assignee_id
"""
RESET_ASSIGNEES = f"""
UPDATE artifact_assignees work
SET priority = d.priority, urgent_at = {OLD_URGENT_AT.format(since="d.created_at", due="d.due_at")}
FROM batch b JOIN artifacts d ON d.organization_id = b.organization_id AND d.id = b.artifact_id
WHERE work.organization_id = b.organization_id AND work.artifact_id = b.artifact_id
  AND work.assignee_id = b.assignee_id
"""  # noqa: S608 - made of constants
RESET_REVIEWS = f"""
UPDATE tag_sets t SET review_rank = review_rank_of(
    d.priority, {OLD_URGENT_AT.format(since="coalesce(t.submitted_at, now())", due="t.due_at")})
FROM batch b JOIN tag_sets item ON item.organization_id = b.organization_id AND item.id = b.id
JOIN artifacts d ON d.organization_id = item.organization_id AND d.id = item.artifact_id
WHERE t.organization_id = b.organization_id AND t.id = b.id
"""  # noqa: S608 - made of constants
RANK = (
    "work_rank(100 - CAST(review_rank / CAST(10 ^ 13 AS bigint) AS int), due_at, submitted_at)"
)
FILL_REVIEWS = f"""
UPDATE tag_sets SET review_rank = {RANK}
FROM batch b WHERE tag_sets.organization_id = b.organization_id AND tag_sets.id = b.id
"""  # noqa: S608 - made of constants


def upgrade() -> None:
    _index(
        "ix_artifacts_order_of_work",
        [sa.text(URGENCY), sa.text(URGENT_AT)],
        [*INCLUDED, "priority", "nearly_due", "due_at", "created_at"],
    )
    live.create_index(
        "ix_artifacts_coming_due",
        "artifacts",
        ["due_at"],
        postgresql_where=sa.text(
            "due_at IS NOT NULL AND NOT nearly_due AND NOT archived"
            " AND status IN ('ready', 'in_progress')"
        ),
    )
    live.create_index(
        "ix_tag_sets_coming_due",
        "tag_sets",
        ["due_at"],
        postgresql_where=sa.text(
            "status = 'submitted' AND due_at IS NOT NULL AND review_rank >= 0"
        ),
    )
    live.backfill(
        "artifact_assignees",
        FILL_ASSIGNEES,
        pending="due_at IS NOT NULL AND priority <= 100 AND urgent_at <> created_at",
    )
    live.backfill(
        "tag_sets",
        FILL_REVIEWS,
        pending="status = 'submitted' AND due_at IS NOT NULL AND review_rank >= 0"
        f" AND review_rank <> {RANK}",
    )
    live.drop_index("ix_artifacts_urgent")


def downgrade() -> None:
    _index(
        "ix_artifacts_urgent",
        [sa.text("priority DESC"), sa.text(OLD_URGENT_AT.format(due="due_at", since="created_at"))],
        [*INCLUDED, "due_at", "created_at"],
    )
    live.backfill("artifact_assignees", RESET_ASSIGNEES, pending="priority > 100")
    live.backfill("tag_sets", RESET_REVIEWS, pending="review_rank < 0")
    for name in ("ix_tag_sets_coming_due", "ix_artifacts_coming_due"):
        live.drop_index(name)
    live.drop_index("ix_artifacts_order_of_work")


def _index(name: str, order: list[sa.TextClause], included: list[str]) -> None:
    live.create_index(
        name,
        "artifacts",
        ["organization_id", "schema_id", *order, "id"],
        postgresql_where=sa.text(POOL),
        postgresql_include=included,
    )
