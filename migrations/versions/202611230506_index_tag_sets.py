"""Add indexes for the lists of tag sets and the review queue, with any filter."""

import sqlalchemy as sa

from migrations import live

revision = "202611230506"
down_revision = "202611230505"
branch_labels = None
depends_on = None

FILL_REVIEWS = """
UPDATE tag_sets item
SET artifact_archived = d.archived, due_at = coalesce(item.review_due_at, d.due_at)
FROM batch b, artifacts d
WHERE item.organization_id = b.organization_id AND item.id = b.id
  AND d.organization_id = b.organization_id AND d.id = item.artifact_id
"""
UNFILLED = """
status = 'submitted' AND EXISTS (
    SELECT FROM artifacts d
    WHERE d.organization_id = tag_sets.organization_id AND d.id = tag_sets.artifact_id
      AND (tag_sets.artifact_archived, tag_sets.due_at)
          IS DISTINCT FROM (d.archived, coalesce(tag_sets.review_due_at, d.due_at)))
"""
FILL_DECISIONS = """
UPDATE tag_set_revisions decision
SET schema_id = item.schema_id, waited_microseconds = (
    SELECT CAST(extract(epoch FROM decision.created_at - sent.created_at) * 1000000 AS bigint)
    FROM tag_set_revisions sent WHERE sent.organization_id = decision.organization_id
      AND sent.tag_set_id = decision.tag_set_id AND sent.number = decision.number - 1)
FROM batch b, tag_sets item
WHERE decision.organization_id = b.organization_id AND decision.tag_set_id = b.tag_set_id
  AND decision.number = b.number
  AND item.organization_id = b.organization_id AND item.id = b.tag_set_id
"""
WAITING = "status = 'submitted'"
DECIDED = "kind IN ('accept', 'correction', 'reject')"
LABELER = (
    "(CASE WHEN labeler_id IS NULL THEN '00000000-0000-0000-0000-000000000000'::uuid"
    " ELSE labeler_id END)"
)
POOL = f"{WAITING} AND assignee_id IS NULL AND assignee_team_id IS NULL"
RANKED = ("review_rank", "id")
# For each new name: the old name, the columns, and the condition. The indexes contain the archived
# flag, so that an index alone can skip tag sets that are not in the queue.
QUEUES = {
    "queue": ("review", (), WAITING),
    "queue_assignee": ("assignee", ("assignee_id",), f"{WAITING} AND assignee_id IS NOT NULL"),
    "queue_team": ("team", ("assignee_team_id",), f"{WAITING} AND assignee_team_id IS NOT NULL"),
    "queue_pool": ("pool", (), POOL),
    "queue_pool_of": ("pool_of", ("schema_id", LABELER), POOL),
    "queue_schema": (None, ("schema_id",), WAITING),
    "queue_labeler": (None, ("labeler_id",), WAITING),
    "queue_escalated": (None, (), f"{WAITING} AND escalated"),
    **{
        f"queue_{flag}": (None, (), f"{WAITING} AND flags @> '[\"{flag}\"]'")
        for flag in ("low_confidence", "disagreement", "resubmitted")
    },
}
LISTS = {
    "list_schema": (["schema_id", "status", "created_at", "id"], None),
    "list_labeler": (["labeler_id", "schema_id", "status", "created_at", "id"], None),
    "list_reviewer": (["reviewer_id", "status", "created_at", "id"], "reviewer_id IS NOT NULL"),
    "list_source": (["source", "created_at", "id"], "source <> 'human'"),
    "list_updated": (["updated_at", "id"], None),
    "waiting_submitted": (["submitted_at"], f"{WAITING} AND NOT artifact_archived"),
    "waiting_submitted_of": (
        ["schema_id", "submitted_at"],
        f"{WAITING} AND NOT artifact_archived",
    ),
    "waiting_due": (["due_at"], f"{WAITING} AND due_at IS NOT NULL AND NOT artifact_archived"),
    "waiting_due_of": (
        ["assignee_id", "due_at"],
        f"{WAITING} AND assignee_id IS NOT NULL AND due_at IS NOT NULL AND NOT artifact_archived",
    ),
}


def upgrade() -> None:
    live.backfill("tag_sets", FILL_REVIEWS, pending=UNFILLED)
    live.backfill(
        "tag_set_revisions", FILL_DECISIONS, pending=f"{DECIDED} AND schema_id IS NULL"
    )
    for name, (_, columns, where) in QUEUES.items():
        _create_index(name, [*columns, *RANKED], where, included=("artifact_archived",))
    for name, (columns, where) in LISTS.items():
        _create_index(name, columns, where)
    for old, _, _ in QUEUES.values():
        if old is not None:
            live.drop_index(f"ix_tag_sets_{old}")
    live.drop_index("ix_tag_sets_schema")


def downgrade() -> None:
    for old, columns, where in QUEUES.values():
        if old is not None:
            _create_index(old, [*columns, *RANKED], where)
    _create_index("schema", ["schema_id", "status", "id"], None)
    for name in (*QUEUES, *LISTS):
        live.drop_index(f"ix_tag_sets_{name}")


def _create_index(
    name: str, columns: list[str], where: str | None, included: tuple[str, ...] = ()
) -> None:
    expressions = [
        sa.text(column) if "(" in column else column for column in ("organization_id", *columns)
    ]
    options = {"postgresql_where": sa.text(where)} if where else {}
    if included:
        options["postgresql_include"] = list(included)
    live.create_index(f"ix_tag_sets_{name}", "tag_sets", expressions, **options)
