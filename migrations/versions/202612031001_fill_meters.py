"""Meter the usage from before 202612031000."""

from migrations import live

revision = "202612031001"
down_revision = "202612031000"
branch_labels = None
depends_on = None


def upgrade() -> None:
    live.fill_meters()


def downgrade() -> None:
    pass
