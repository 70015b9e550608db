"""Add single sign-on: configurations, identities and pending sign-ins."""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

from migrations.auditing import audited, unaudited
from migrations.policies import protect

revision = "202611211050"
down_revision = "202611211040"
branch_labels = None
depends_on = None

_TABLES = (
    "sso_configurations",
    "sso_provider_states",
    "sso_domains",
    "sso_identities",
    "sso_flows",
    "sso_codes",
    "sso_assertions",
)


def upgrade() -> None:
    _configurations()
    _identities()
    _under_way()
    for table in _TABLES:
        protect(table)
    audited("sso_configurations", label="kind", secret=("client_secret",))
    audited("sso_domains", label="domain")
    audited("sso_identities", label="email")


def downgrade() -> None:
    for table in ("sso_configurations", "sso_domains", "sso_identities"):
        unaudited(table)
    for table in reversed(_TABLES):
        op.drop_table(table)


def _time(name: str, *, nullable: bool = False, now: bool = False) -> sa.Column:
    default = sa.text("now()") if now else None
    return sa.Column(name, sa.DateTime(timezone=True), nullable=nullable, server_default=default)


def _build_organization_columns(table: str) -> tuple[sa.Column, sa.ForeignKeyConstraint]:
    return sa.Column("organization_id", sa.Uuid(), nullable=False), sa.ForeignKeyConstraint(
        ["organization_id"],
        ["organizations.id"],
        name=op.f(f"fk_{table}_organization_id"),
        ondelete="CASCADE",
    )


def _user(table: str) -> tuple[sa.Column, sa.ForeignKeyConstraint]:
    return sa.Column("user_id", sa.Uuid(), nullable=False), sa.ForeignKeyConstraint(
        ["user_id"], ["users.id"], name=op.f(f"fk_{table}_user_id"), ondelete="CASCADE"
    )


def _configurations() -> None:
    op.create_table(
        "sso_configurations",
        *_build_organization_columns("sso_configurations"),
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("kind", sa.String(), nullable=False),
        sa.Column("enabled", sa.Boolean(), nullable=False),
        sa.Column("enforced", sa.Boolean(), nullable=False),
        sa.Column("default_role", sa.String(), nullable=False),
        sa.Column("require_group", sa.Boolean(), nullable=False),
        sa.Column("group_mapping", postgresql.JSONB(), nullable=False),
        sa.Column("settings", postgresql.JSONB(), nullable=False),
        sa.Column("provider", postgresql.JSONB(), nullable=False),
        sa.Column("client_secret", sa.String(), nullable=True),
        _time("created_at"),
        _time("updated_at"),
        sa.Column("revision", sa.Integer(), nullable=False),
        sa.PrimaryKeyConstraint("organization_id", "id", name=op.f("pk_sso_configurations")),
        sa.UniqueConstraint("organization_id", name=op.f("uq_sso_configurations_organization_id")),
    )
    op.create_table(
        "sso_provider_states",
        *_build_organization_columns("sso_provider_states"),
        sa.Column("configuration_id", sa.Uuid(), nullable=False),
        sa.Column("keys", postgresql.JSONB(), nullable=False),
        _time("fetched_at", nullable=True),
        _time("window_at", nullable=True),
        sa.Column("fetches", sa.Integer(), nullable=False),
        sa.ForeignKeyConstraint(
            ["organization_id", "configuration_id"],
            ["sso_configurations.organization_id", "sso_configurations.id"],
            name=op.f("fk_sso_provider_states_organization_id_configuration_id"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint(
            "organization_id", "configuration_id", name=op.f("pk_sso_provider_states")
        ),
    )
    op.create_table(
        "sso_domains",
        *_build_organization_columns("sso_domains"),
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("domain", sa.String(), nullable=False),
        sa.Column("token", sa.String(), nullable=False),
        _time("verified_at", nullable=True),
        _time("missing_since", nullable=True),
        sa.Column("vouched", sa.Boolean(), nullable=False),
        sa.Column("problem", sa.String(), nullable=True),
        _time("created_at"),
        _time("updated_at"),
        sa.PrimaryKeyConstraint("organization_id", "id", name=op.f("pk_sso_domains")),
        sa.UniqueConstraint(
            "organization_id", "domain", name=op.f("uq_sso_domains_organization_id_domain")
        ),
    )
    op.create_index(
        "uq_sso_domains_verified",
        "sso_domains",
        ["domain"],
        unique=True,
        postgresql_where=sa.text("verified_at IS NOT NULL"),
    )


def _identities() -> None:
    op.create_table(
        "sso_identities",
        *_build_organization_columns("sso_identities"),
        *_user("sso_identities"),
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("issuer", sa.String(), nullable=False),
        sa.Column("subject", sa.String(), nullable=False),
        sa.Column("email", sa.String(), nullable=False),
        sa.Column("anchor", sa.String(), nullable=False),
        _time("dropped_at", nullable=True),
        _time("created_at"),
        _time("updated_at"),
        sa.PrimaryKeyConstraint("organization_id", "id", name=op.f("pk_sso_identities")),
        sa.UniqueConstraint(
            "organization_id",
            "issuer",
            "subject",
            name=op.f("uq_sso_identities_organization_id_issuer_subject"),
        ),
    )
    op.create_index(op.f("ix_sso_identities_user_id"), "sso_identities", ["user_id"])


def _under_way() -> None:
    op.create_table(
        "sso_flows",
        *_build_organization_columns("sso_flows"),
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("kind", sa.String(), nullable=False),
        sa.Column("issuer", sa.String(), nullable=False),
        sa.Column("state_hash", sa.String(), nullable=False),
        sa.Column("nonce", sa.String(), nullable=False),
        sa.Column("code_verifier", sa.String(), nullable=False),
        sa.Column("request_id", sa.String(), nullable=False),
        sa.Column("browser_hash", sa.String(), nullable=False),
        sa.Column("challenge", sa.String(), nullable=True),
        sa.Column("redirect_uri", sa.String(), nullable=True),
        sa.Column("next", sa.String(), nullable=True),
        _time("created_at", now=True),
        _time("expires_at"),
        _time("used_at", nullable=True),
        sa.PrimaryKeyConstraint("organization_id", "id", name=op.f("pk_sso_flows")),
        sa.UniqueConstraint("state_hash", name=op.f("uq_sso_flows_state_hash")),
    )
    op.create_table(
        "sso_codes",
        *_build_organization_columns("sso_codes"),
        *_user("sso_codes"),
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("code_hash", sa.String(), nullable=False),
        sa.Column("browser_hash", sa.String(), nullable=False),
        sa.Column("challenge", sa.String(), nullable=True),
        sa.Column("pending", postgresql.JSONB(), nullable=True),
        _time("created_at", now=True),
        _time("expires_at"),
        _time("used_at", nullable=True),
        sa.PrimaryKeyConstraint("organization_id", "id", name=op.f("pk_sso_codes")),
        sa.UniqueConstraint("code_hash", name=op.f("uq_sso_codes_code_hash")),
    )
    op.create_table(
        "sso_assertions",
        *_build_organization_columns("sso_assertions"),
        sa.Column("assertion_hash", sa.String(), nullable=False),
        _time("expires_at"),
        sa.PrimaryKeyConstraint(
            "organization_id", "assertion_hash", name=op.f("pk_sso_assertions")
        ),
    )
    for table in ("sso_flows", "sso_codes", "sso_assertions"):
        op.create_index(f"ix_{table}_expires_at", table, ["expires_at"])
