"""Rules that give work to teams and people."""

revision = "202611212350"
down_revision = "202611212340"
branch_labels = None
depends_on = None


def upgrade() -> None:
    pass


def downgrade() -> None:
    pass
