"""Apply the row-level security of tenant tables; used by migrations.

The policies read session settings in sub-selects, so that PostgreSQL evaluates them once per
statement instead of once per row. If the settings are unset or empty, no rows are visible.
"""

import os

from alembic import op

from app.kit.settings_values import DATABASE_ROLE, parse_database_role

ROLE = parse_database_role(os.environ.get("DATABASE_ROLE", "").strip() or DATABASE_ROLE)

_CURRENT_ORGANIZATION = "(SELECT NULLIF(current_setting('app.organization_id', true), '')::uuid)"
_ALL_ORGANIZATIONS = "(SELECT current_setting('app.all_organizations', true) = 'on')"


def create_role() -> None:
    """Create the application's role, which cannot log in, and grant it access to new tables.

    The current user may switch to the role. Roles belong to the PostgreSQL cluster, not to the
    database, so the role may already exist.
    """
    op.execute(
        f"""
        DO $$ BEGIN
            IF NOT EXISTS (SELECT FROM pg_roles WHERE rolname = '{ROLE}') THEN
                CREATE ROLE {ROLE} NOLOGIN NOSUPERUSER NOBYPASSRLS NOCREATEDB NOCREATEROLE;
            END IF;
        EXCEPTION WHEN duplicate_object OR unique_violation THEN NULL;
        END $$
        """
    )
    op.execute(
        f"""
        DO $$ BEGIN
            IF NOT pg_has_role(current_user, '{ROLE}', 'SET') THEN
                EXECUTE format('GRANT {ROLE} TO %I WITH SET TRUE, INHERIT FALSE', current_user);
            END IF;
        END $$
        """
    )
    op.execute(f"GRANT USAGE ON SCHEMA public TO {ROLE}")
    op.execute(
        f"ALTER DEFAULT PRIVILEGES IN SCHEMA public"
        f" GRANT SELECT, INSERT, UPDATE, DELETE ON TABLES TO {ROLE}"
    )
    op.execute(
        f"ALTER DEFAULT PRIVILEGES IN SCHEMA public GRANT USAGE, SELECT ON SEQUENCES TO {ROLE}"
    )


def protect(table: str, *, force: bool = True) -> None:
    """Limit sessions to their organization's rows of `table`.

    If `force` is true, this also applies to sessions of the table's owner.
    """
    op.execute(f"ALTER TABLE {table} ENABLE ROW LEVEL SECURITY")
    if force:
        op.execute(f"ALTER TABLE {table} FORCE ROW LEVEL SECURITY")
    op.execute(
        f"CREATE POLICY organization ON {table}"
        f" USING (organization_id = {_CURRENT_ORGANIZATION} OR {_ALL_ORGANIZATIONS})"
        f" WITH CHECK (organization_id = {_CURRENT_ORGANIZATION} OR {_ALL_ORGANIZATIONS})"
    )
