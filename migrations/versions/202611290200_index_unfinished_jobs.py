"""Give the two indexes of unfinished jobs different conditions; see `app.kit.jobs.claims`."""

import sqlalchemy as sa

from migrations import live

revision = "202611290200"
down_revision = "202611290100"
branch_labels = None
depends_on = None

QUEUE = sa.text("(CASE queue WHEN ''::text THEN ''::character varying ELSE queue END)")
TURN = sa.text(
    "(CASE WHEN organization_id IS NULL THEN '00000000-0000-0000-0000-000000000000'::uuid"
    " ELSE organization_id END)"
)
UNFINISHED = sa.text("due_at IS NOT NULL")


def upgrade() -> None:
    by_turn = sa.text("due_at < 'infinity'")
    live.create_index("ix_jobs_by_turn", "jobs", ["queue", TURN, "due_at"], postgresql_where=by_turn)
    by_due = sa.text("due_at > '-infinity'")
    live.create_index("ix_jobs_by_due", "jobs", ["queue", "due_at"], postgresql_where=by_due)
    live.drop_index("ix_jobs_turns")
    live.drop_index("ix_jobs_due")


def downgrade() -> None:
    live.create_index("ix_jobs_due", "jobs", ["queue", "due_at"], postgresql_where=UNFINISHED)
    live.create_index("ix_jobs_turns", "jobs", [QUEUE, TURN, "due_at"], postgresql_where=UNFINISHED)
    live.drop_index("ix_jobs_by_due")
    live.drop_index("ix_jobs_by_turn")
