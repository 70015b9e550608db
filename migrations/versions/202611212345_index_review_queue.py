"""Add indexes for claiming and counting reviews."""

import sqlalchemy as sa

from migrations import live

revision = "202611212345"
down_revision = "202611212340"
branch_labels = None
depends_on = None

WAITING = "status = 'submitted'"
POOL = f"{WAITING} AND assignee_id IS NULL AND assignee_team_id IS NULL"
# Not `coalesce`: it is not leakproof, so row-level security would prevent the use of the index.
LABELER = (
    "(CASE WHEN labeler_id IS NULL THEN '00000000-0000-0000-0000-000000000000'::uuid"
    " ELSE labeler_id END)"
)


def upgrade() -> None:
    live.validate("fk_tag_sets_escalated_by", "tag_sets")
    _queue("ix_tag_sets_assignee", "assignee_id", f"{WAITING} AND assignee_id IS NOT NULL")
    live.drop_index("ix_tag_sets_assigned")
    _queue("ix_tag_sets_team", "assignee_team_id", f"{WAITING} AND assignee_team_id IS NOT NULL")
    _queue("ix_tag_sets_pool", None, POOL)
    live.create_index(
        "ix_tag_sets_pool_of",
        "tag_sets",
        ["organization_id", "schema_id", sa.text(LABELER), "review_rank", "id"],
        postgresql_where=sa.text(POOL),
    )
    live.create_index(
        "ix_artifacts_archived",
        "artifacts",
        ["organization_id", "id"],
        postgresql_where=sa.text("archived"),
    )
    live.create_index(
        "ix_tag_set_revisions_verdicts",
        "tag_set_revisions",
        ["organization_id", "created_at"],
        postgresql_where=sa.text("kind IN ('accept', 'correction', 'reject')"),
    )


def downgrade() -> None:
    live.create_index(
        "ix_tag_sets_assigned",
        "tag_sets",
        ["organization_id", "assignee_id"],
        postgresql_where=sa.text(f"{WAITING} AND assignee_id IS NOT NULL"),
    )
    live.drop_index("ix_tag_set_revisions_verdicts")
    live.drop_index("ix_artifacts_archived")
    for name in ("pool_of", "pool", "team", "assignee"):
        live.drop_index(f"ix_tag_sets_{name}")


def _queue(name: str, of: str | None, condition: str) -> None:
    columns = ["organization_id", *([of] if of else []), "review_rank", "id"]
    live.create_index(name, "tag_sets", columns, postgresql_where=sa.text(condition))
