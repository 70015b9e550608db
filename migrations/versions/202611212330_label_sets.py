"""Add merges, reopening and provenance of tag sets."""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

from migrations.auditing import audited

revision = "202611212330"
down_revision = "202611212325"
branch_labels = None
depends_on = None

_IGNORED = ("claim_expires_at", "review_rank", "comment_count")


def upgrade() -> None:
    op.add_column("tag_sets", sa.Column("merged_from", postgresql.JSONB(), nullable=True))
    op.add_column("tag_sets", sa.Column("provenance", postgresql.JSONB(), nullable=True))
    op.add_column("tag_sets", sa.Column("superseded_by", sa.Uuid(), nullable=True))
    op.add_column(
        "tag_sets",
        sa.Column("reopened", sa.Boolean(), server_default=sa.false(), nullable=False),
    )
    # For existing revisions, both are null, and are computed when they are requested.
    op.add_column("tag_set_revisions", sa.Column("tag_count", sa.Integer(), nullable=True))
    op.add_column("tag_set_revisions", sa.Column("tags_bytes", sa.Integer(), nullable=True))
    # The provenance is derived from the tags.
    audited("tag_sets", ignored=(*_IGNORED, "provenance"))


def downgrade() -> None:
    audited("tag_sets", ignored=_IGNORED)
    for column in ("tags_bytes", "tag_count"):
        op.drop_column("tag_set_revisions", column)
    for column in ("reopened", "superseded_by", "provenance", "merged_from"):
        op.drop_column("tag_sets", column)
