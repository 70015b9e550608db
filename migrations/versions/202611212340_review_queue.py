"""Who reviews what."""

revision = "202611212340"
down_revision = "202611212330"
branch_labels = None
depends_on = None


def upgrade() -> None:
    pass


def downgrade() -> None:
    pass
