"""Who reviews what."""

import sqlalchemy as sa
from alembic import op

revision = "202611212340"
down_revision = "202611212330"
branch_labels = None
depends_on = None

WAITING = "status = 'submitted'"
POOL = f"{WAITING} AND assignee_id IS NULL AND assignee_team_id IS NULL"
# Not `coalesce`: PostgreSQL takes it for leaky, and uses no such index under row-level security.
LABELER = (
    "(CASE WHEN labeler_id IS NULL THEN '00000000-0000-0000-0000-000000000000'::uuid"
    " ELSE labeler_id END)"
)


def upgrade() -> None:
    op.add_column("tag_sets", sa.Column("assignee_team_id", sa.Uuid()))
    op.add_column("tag_sets", sa.Column("review_due_at", sa.DateTime(timezone=True)))
    op.add_column("tag_sets", sa.Column("escalated_by", sa.Uuid()))
    op.add_column("tag_sets", sa.Column("escalated_at", sa.DateTime(timezone=True)))
    op.add_column("tag_sets", sa.Column("escalation_reason", sa.String()))
    op.create_foreign_key("fk_tag_sets_escalated_by", "tag_sets", "users", ["escalated_by"], ["id"])
    op.drop_index("ix_tag_sets_assigned", "tag_sets")
    _queue("ix_tag_sets_assigned", "assignee_id", f"{WAITING} AND assignee_id IS NOT NULL")
    _queue("ix_tag_sets_team", "assignee_team_id", f"{WAITING} AND assignee_team_id IS NOT NULL")
    _queue("ix_tag_sets_pool", None, POOL)
    op.create_index(
        "ix_tag_sets_pool_of",
        "tag_sets",
        [
            "organization_id",
            "schema_id",
            sa.text(LABELER),
            "review_rank",
            "id",
        ],
        postgresql_where=sa.text(POOL),
    )
    op.create_index(
        "ix_artifacts_archived",
        "artifacts",
        ["organization_id", "id"],
        postgresql_where=sa.text("archived"),
    )
    op.create_index(
        "ix_tag_set_revisions_verdicts",
        "tag_set_revisions",
        ["organization_id", "created_at"],
        postgresql_where=sa.text("kind IN ('accept', 'correction', 'reject')"),
    )


def downgrade() -> None:
    op.drop_index("ix_tag_set_revisions_verdicts", "tag_set_revisions")
    op.drop_index("ix_artifacts_archived", "artifacts")
    for name in ("pool_of", "pool", "team", "assigned"):
        op.drop_index(f"ix_tag_sets_{name}", "tag_sets")
    op.create_index(
        "ix_tag_sets_assigned",
        "tag_sets",
        ["organization_id", "assignee_id"],
        postgresql_where=sa.text(f"{WAITING} AND assignee_id IS NOT NULL"),
    )
    op.drop_constraint("fk_tag_sets_escalated_by", "tag_sets")
    for column in (
        "escalation_reason",
        "escalated_at",
        "escalated_by",
        "review_due_at",
        "assignee_team_id",
    ):
        op.drop_column("tag_sets", column)


def _queue(name: str, of: str | None, condition: str) -> None:
    columns = ["organization_id", *([of] if of else []), "review_rank", "id"]
    op.create_index(name, "tag_sets", columns, postgresql_where=sa.text(condition))
