"""Count errors of a job, faults of the platform and lost workers separately."""

import sqlalchemy as sa
from alembic import op

revision = "202611230100"
down_revision = "202611220225"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("jobs", sa.Column("interruptions", sa.Integer(), server_default="0", nullable=False))
    op.add_column("jobs", sa.Column("faults", sa.Integer(), server_default="0", nullable=False))
    op.add_column("jobs", sa.Column("reported_at", sa.DateTime(timezone=True), nullable=True))


def downgrade() -> None:
    op.drop_column("jobs", "reported_at")
    op.drop_column("jobs", "faults")
    op.drop_column("jobs", "interruptions")
