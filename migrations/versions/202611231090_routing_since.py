"""Store since when a parsed document has been waiting for the routing rules."""

import sqlalchemy as sa
from alembic import op

from migrations.auditing import audited

revision = "202611231090"
down_revision = "202611231020"
branch_labels = None
depends_on = None

_IGNORED = ("claim_expires_at", "label_counts", "labeled_by", "reserved_for", "ingested_at")


def upgrade() -> None:
    op.add_column("artifacts", sa.Column("routing_since", sa.DateTime(timezone=True), nullable=True))
    audited("artifacts", label="name", ignored=(*_IGNORED, "routing_since"))


def downgrade() -> None:
    audited("artifacts", label="name", ignored=_IGNORED)
    op.drop_column("artifacts", "routing_since")
