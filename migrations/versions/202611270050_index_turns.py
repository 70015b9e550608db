"""Index jobs by an expression of the queue that only this index contains."""

import sqlalchemy as sa

from migrations import live

revision = "202611270050"
down_revision = "202611260200"
branch_labels = None
depends_on = None

DUE = sa.text("due_at IS NOT NULL")
QUEUE = sa.text("(CASE queue WHEN ''::text THEN ''::character varying ELSE queue END)")
TURN = sa.text(
    "(CASE WHEN organization_id IS NULL THEN '00000000-0000-0000-0000-000000000000'::uuid"
    " ELSE organization_id END)"
)


def upgrade() -> None:
    live.create_index("ix_jobs_turns", "jobs", [QUEUE, TURN, "due_at"], postgresql_where=DUE)
    live.drop_index("ix_jobs_turn_order")


def downgrade() -> None:
    live.create_index(
        "ix_jobs_turn_order", "jobs", ["queue", TURN, "due_at"], postgresql_where=DUE
    )
    live.drop_index("ix_jobs_turns")
