"""Store how long a webhook is paused after a failure."""

import sqlalchemy as sa
from alembic import op

from migrations.auditing import audited

revision = "202611220205"
down_revision = "202611220200"
branch_labels = None
depends_on = None

# Deliveries change these columns; the attempts of deliveries are recorded separately.
_IGNORED = ("last_triggered_at", "last_status_code", "consecutive_failures")


def upgrade() -> None:
    op.add_column("webhooks", sa.Column("paused_until", sa.DateTime(timezone=True), nullable=True))
    audited("webhooks", label="url", ignored=(*_IGNORED, "paused_until"))


def downgrade() -> None:
    audited("webhooks", label="url", ignored=_IGNORED)
    op.drop_column("webhooks", "paused_until")
