"""Find the newest migration and a database's revision, without loading the application."""

import re
from contextlib import closing
from pathlib import Path

import psycopg2
from psycopg2 import errors

from app.kit.db_guard.deadlines import LIBPQ_TIMEOUTS

_ASSIGNMENT = re.compile(
    r"^(revision|down_revision)\b[^=\n]*=\s*(?:[\"']([^\"']+)[\"']|None)", re.MULTILINE
)


def find_head_revision(versions: Path) -> str | None:
    """Return the head revision in a folder of Alembic files, or None if there is not just one."""
    revisions: set[str] = set()
    parent_revisions: set[str] = set()
    for file in versions.glob("*.py"):
        for name, value in _ASSIGNMENT.findall(file.read_text(encoding="utf-8")):
            (revisions if name == "revision" else parent_revisions).add(value)
    heads = revisions - parent_revisions
    return heads.pop() if len(heads) == 1 else None


def find_applied_revision(url: str) -> str | None:
    """Return the revision that was last applied to a database, or None for a new database.

    Raises psycopg2.OperationalError if the connection fails.
    """
    with (
        closing(psycopg2.connect(url, **LIBPQ_TIMEOUTS)) as connection,
        connection.cursor() as cursor,
    ):
        try:
            cursor.execute("SELECT version_num FROM alembic_version")
        except errors.UndefinedTable:
            return None
        row = cursor.fetchone()
        return None if row is None else str(row[0])


def find_table_owner(url: str) -> str | None:
    """Return the role that owns the tables in a database, or None for a new database."""
    with (
        closing(psycopg2.connect(url, **LIBPQ_TIMEOUTS)) as connection,
        connection.cursor() as cursor,
    ):
        cursor.execute(
            "SELECT pg_get_userbyid(relowner) FROM pg_class WHERE oid = to_regclass(%s)",
            ("alembic_version",),
        )
        row = cursor.fetchone()
        return None if row is None else str(row[0])
