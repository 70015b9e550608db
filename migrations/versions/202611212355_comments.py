"""The discussion of label sets."""

revision = "202611212355"
down_revision = "202611212350"
branch_labels = None
depends_on = None


def upgrade() -> None:
    pass


def downgrade() -> None:
    pass
