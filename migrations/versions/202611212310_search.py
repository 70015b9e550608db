"""Full-text search in the document's language."""

revision = "202611212310"
down_revision = "202611212300"
branch_labels = None
depends_on = None


def upgrade() -> None:
    pass


def downgrade() -> None:
    pass
