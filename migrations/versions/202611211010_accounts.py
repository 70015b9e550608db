"""Add canonical addresses, delays after failed logins, and emailed tokens."""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

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
    op.add_column("sessions", sa.Column("token_version", sa.Integer(), nullable=True))
    op.add_column("sessions", sa.Column("organization_id", sa.Uuid(), nullable=True))
    op.create_foreign_key(
        op.f("fk_sessions_organization_id"),
        "sessions",
        "organizations",
        ["organization_id"],
        ["id"],
        ondelete="CASCADE",
    )
    op.create_index(op.f("ix_sessions_organization_id"), "sessions", ["organization_id"])
    op.add_column(
        "users",
        sa.Column(
            "notification_preferences",
            postgresql.JSONB(),
            nullable=False,
            server_default=sa.text("'{}'::jsonb"),
        ),
    )
    _create_mailed_tokens()
    _create_login_failures()


def _create_mailed_tokens() -> None:
    now = sa.text("now()")
    op.create_table(
        "mailed_tokens",
        sa.Column("user_id", sa.Uuid(), nullable=False),
        sa.Column("purpose", sa.String(), nullable=False),
        sa.Column("token_hash", sa.String(), nullable=False),
        sa.Column("email", sa.String(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False, server_default=now),
        sa.Column("expires_at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(
            ["user_id"], ["users.id"], name=op.f("fk_mailed_tokens_user_id"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("token_hash", name=op.f("pk_mailed_tokens")),
    )
    op.create_index("ix_mailed_tokens_user_id", "mailed_tokens", ["user_id", "purpose"])
    op.create_index(op.f("ix_mailed_tokens_expires_at"), "mailed_tokens", ["expires_at"])


def _create_login_failures() -> None:
    op.create_table(
        "login_failures",
        sa.Column("subject", sa.String(), nullable=False),
        sa.Column("failures", sa.Integer(), nullable=False),
        sa.Column("last_failed_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("blocked_until", sa.DateTime(timezone=True), nullable=False),
        sa.PrimaryKeyConstraint("subject", name=op.f("pk_login_failures")),
    )
    op.create_index(op.f("ix_login_failures_last_failed_at"), "login_failures", ["last_failed_at"])


def _fill_keys() -> None:
    """Set the key of each address.

    If two accounts share a key, only the older account gets it. The other account is found by its
    exact address, as before.
    """
    # The application computes the keys, so that they never differ from the keys of new accounts.
    from app.identity.users.addresses import get_mailbox_key  # noqa: PLC0415

    connection = op.get_bind()
    rows = connection.execute(sa.text("SELECT id, email FROM users ORDER BY created_at, id"))
    keys: dict[str, str] = {}
    for identifier, email in rows:
        keys.setdefault(get_mailbox_key(email), str(identifier))
    values = [{"id": identifier, "key": key} for key, identifier in keys.items()]
    update = sa.text("UPDATE users SET email_key = :key WHERE id = CAST(:id AS uuid)")
    for start in range(0, len(values), _BATCH):
        connection.execute(update, values[start : start + _BATCH])


def downgrade() -> None:
    op.drop_table("login_failures")
    op.drop_table("mailed_tokens")
    op.drop_column("users", "notification_preferences")
    op.drop_index(op.f("ix_sessions_organization_id"), "sessions")
    op.drop_column("sessions", "organization_id")
    op.drop_column("sessions", "token_version")
    op.drop_column("sessions", "method")
    op.drop_column("users", "email_key")
