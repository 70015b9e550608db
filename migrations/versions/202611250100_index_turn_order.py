"""Index jobs by organization with an expression that PostgreSQL may use with row-level security."""

import sqlalchemy as sa

from migrations import live

revision = "202611250100"
down_revision = "202611240101"
branch_labels = None
depends_on = None

DUE = sa.text("due_at IS NOT NULL")
NO_ORGANIZATION = "'00000000-0000-0000-0000-000000000000'::uuid"
TURN = sa.text(
    f"(CASE WHEN organization_id IS NULL THEN {NO_ORGANIZATION} ELSE organization_id END)"
)
OLD_TURN = sa.text(f"coalesce(organization_id, {NO_ORGANIZATION})")


def upgrade() -> None:
    live.create_index("ix_jobs_turn_order", "jobs", ["queue", TURN, "due_at"], postgresql_where=DUE)
    live.drop_index("ix_jobs_turns")


def downgrade() -> None:
    live.create_index("ix_jobs_turns", "jobs", ["queue", OLD_TURN, "due_at"], postgresql_where=DUE)
    live.drop_index("ix_jobs_turn_order")
