"""Reserve documents for drafts that were started, and count rejections by document."""

import sqlalchemy as sa
from alembic import op

from migrations.auditing import audited

revision = "202611231120"
down_revision = "202611231111"
branch_labels = None
depends_on = None

_IGNORED = ("claim_expires_at", "review_rank", "comment_count", "provenance", "artifact_archived")


def upgrade() -> None:
    op.add_column(
        "tag_sets", sa.Column("reserved_until", sa.DateTime(timezone=True), nullable=True)
    )
    op.add_column(
        "tag_sets",
        sa.Column("earlier_rejections", sa.Integer(), server_default="0", nullable=False),
    )
    op.add_column(
        "artifact_skips",
        sa.Column("rejected", sa.Boolean(), server_default=sa.false(), nullable=False),
    )
    audited("tag_sets", ignored=(*_IGNORED, "due_at", "reserved_until"))


def downgrade() -> None:
    audited("tag_sets", ignored=(*_IGNORED, "due_at"))
    op.drop_column("artifact_skips", "rejected")
    op.drop_column("tag_sets", "earlier_rejections")
    op.drop_column("tag_sets", "reserved_until")
