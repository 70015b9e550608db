"""Who is given which document."""

revision = "202611212320"
down_revision = "202611212310"
branch_labels = None
depends_on = None


def upgrade() -> None:
    pass


def downgrade() -> None:
    pass
