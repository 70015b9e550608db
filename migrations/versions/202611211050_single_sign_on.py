"""Single sign-on: configurations, identities, flows under way."""

revision = "202611211050"
down_revision = "202611211040"
branch_labels = None
depends_on = None


def upgrade() -> None:
    pass


def downgrade() -> None:
    pass
