"""Add indexes for claiming jobs by organization in turn, and for purging old rows."""

import sqlalchemy as sa

from migrations import live

revision = "202611230105"
down_revision = "202611230100"
branch_labels = None
depends_on = None

DUE = sa.text("due_at IS NOT NULL")
TURN = sa.text("coalesce(organization_id, '00000000-0000-0000-0000-000000000000'::uuid)")


def upgrade() -> None:
    live.create_index("ix_jobs_turns", "jobs", ["queue", TURN, "due_at"], postgresql_where=DUE)
    live.create_index(
        "ix_jobs_leased",
        "jobs",
        ["queue", "leased_until"],
        postgresql_where=sa.text("leased_until IS NOT NULL"),
    )
    live.create_index(
        "ix_jobs_failed", "jobs", ["finished_at"], postgresql_where=sa.text("status = 'failed'")
    )
    live.create_index("ix_schedule_runs_started_at", "schedule_runs", ["started_at"])
    live.create_index(
        "ix_sessions_revoked_at",
        "sessions",
        ["revoked_at"],
        postgresql_where=sa.text("revoked_at IS NOT NULL"),
    )


def downgrade() -> None:
    live.drop_index("ix_sessions_revoked_at")
    live.drop_index("ix_schedule_runs_started_at")
    live.drop_index("ix_jobs_failed")
    live.drop_index("ix_jobs_leased")
    live.drop_index("ix_jobs_turns")
