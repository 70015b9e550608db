"""Organizations: invitations, closing and erasing, limits of the plan."""

revision = "202611211020"
down_revision = "202611211010"
branch_labels = None
depends_on = None


def upgrade() -> None:
    pass


def downgrade() -> None:
    pass
