"""Accounts: canonical addresses, slowed log-ins, mailed tokens."""

import sqlalchemy as sa
from alembic import op

revision = "202611211010"
down_revision = "202611211000"
branch_labels = None
depends_on = None

_BATCH = 1000


def upgrade() -> None:
    op.add_column("users", sa.Column("email_key", sa.String(), nullable=True))
    _fill_keys()
    op.create_unique_constraint(op.f("uq_users_email_key"), "users", ["email_key"])
    op.add_column(
        "sessions", sa.Column("method", sa.String(), nullable=False, server_default="password")
    )
    op.add_column("sessions", sa.Column("organization_id", sa.Uuid(), nullable=True))
    op.create_foreign_key(
        op.f("fk_sessions_organization_id"),
        "sessions",
        "organizations",
        ["organization_id"],
        ["id"],
        ondelete="SET NULL",
    )
    op.create_index(op.f("ix_sessions_organization_id"), "sessions", ["organization_id"])


def _fill_keys() -> None:
    """The key of every address. Of two accounts that share one, the older has it; the other is
    found by its exact address, as before."""
    # The key is the application's own, so that the two never differ.
    from app.identity.users.addresses import canonical  # noqa: PLC0415

    connection = op.get_bind()
    rows = connection.execute(sa.text("SELECT id, email FROM users ORDER BY created_at, id"))
    keys: dict[str, str] = {}
    for identifier, email in rows:
        keys.setdefault(canonical(email), str(identifier))
    values = [{"id": identifier, "key": key} for key, identifier in keys.items()]
    update = sa.text("UPDATE users SET email_key = :key WHERE id = CAST(:id AS uuid)")
    for start in range(0, len(values), _BATCH):
        connection.execute(update, values[start : start + _BATCH])


def downgrade() -> None:
    op.drop_index(op.f("ix_sessions_organization_id"), "sessions")
    op.drop_column("sessions", "organization_id")
    op.drop_column("sessions", "method")
    op.drop_column("users", "email_key")
