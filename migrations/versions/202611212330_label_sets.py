"""What became of label sets."""

revision = "202611212330"
down_revision = "202611212320"
branch_labels = None
depends_on = None


def upgrade() -> None:
    pass


def downgrade() -> None:
    pass
