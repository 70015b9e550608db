"""Teams and who is in them."""

revision = "202611211040"
down_revision = "202611211030"
branch_labels = None
depends_on = None


def upgrade() -> None:
    pass


def downgrade() -> None:
    pass
