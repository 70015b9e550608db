"""Index invitations by status, because accepted and revoked invitations are kept."""

import sqlalchemy as sa

from migrations import live

revision = "202612050106"
down_revision = "202612050105"
branch_labels = None
depends_on = None

TABLE = "invitations"
OLD_LIST = "ix_invitations_list"
LIST = ["organization_id", "created_at", "id"]
PENDING = "accepted_at IS NULL AND revoked_at IS NULL"
INDEXES = (
    # Few invitations are open, so the index of their expiry replaces one in the order of the list.
    ("ix_invitations_expiry", ["organization_id", "expires_at"], PENDING),
    ("ix_invitations_pending", LIST, PENDING),
    ("ix_invitations_accepted", LIST, "accepted_at IS NOT NULL"),
    ("ix_invitations_revoked", LIST, "accepted_at IS NULL AND revoked_at IS NOT NULL"),
)
BY_EMAIL = "ix_invitations_email"


def upgrade() -> None:
    for name, columns, condition in INDEXES:
        live.create_index(name, TABLE, columns, postgresql_where=sa.text(condition))
    live.create_index(BY_EMAIL, TABLE, ["organization_id", "email", "id"])
    live.drop_index(OLD_LIST)


def downgrade() -> None:
    live.create_index(OLD_LIST, TABLE, LIST)
    for name in (BY_EMAIL, *(index[0] for index in INDEXES)):
        live.drop_index(name)
