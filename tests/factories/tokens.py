"""Search for encrypted values in columns that are not declared as encrypted."""

from typing import Any

from sqlalchemy import text

from app.kit import db, encryption, tenancy

# A Fernet token in base64: the version byte, half of the timestamp, and at least one block.
_TOKEN = "gAAAAAB[A-Za-z0-9_-]{90,}"
# LIKE is much faster than the regular expression, which then reads only a few values.
_TOKEN_START = "%gAAAAAB%"
_TEXT_COLUMNS = text(
    "SELECT quote_ident(table_name), quote_ident(column_name) FROM information_schema.columns"
    " JOIN information_schema.tables USING (table_schema, table_name)"
    " WHERE table_schema = 'public' AND table_type = 'BASE TABLE'"
    " AND data_type IN ('text', 'character varying', 'jsonb', 'ARRAY') ORDER BY 1, 2"
)


def find_undeclared_columns(only_table: str | None = None) -> list[str]:
    """Return the undeclared columns (`table.column`) that contain a value like a Fernet token.

    Searches every table, or only the table `only_table`.
    """
    declared = {(entry.table.name, entry.column.name) for entry in encryption.list_columns()}
    undeclared = []
    all_organizations = tenancy.across_organizations(reason="a test reads every table")
    with all_organizations, db.transaction() as session:
        for table, column in session.execute(_TEXT_COLUMNS).all():
            if table != (only_table or table):
                continue
            if (table, column) not in declared and _has_tokens(session, table, column):
                undeclared.append(f"{table}.{column}")
    return undeclared


def _has_tokens(session: Any, table: str, column: str) -> bool:
    sql = (
        f"SELECT EXISTS (SELECT FROM {table} WHERE {column}::text LIKE :start"
        f" AND {column}::text ~ :token)"
    )
    return bool(session.scalar(text(sql), {"start": _TOKEN_START, "token": _TOKEN}))
