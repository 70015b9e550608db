"""Roles and databases of an embedded PostgreSQL, made through its superuser."""

from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager

import psycopg2
from psycopg2 import errors, sql
from psycopg2.extensions import cursor


@contextmanager
def _superuser(admin_url: str) -> Iterator[cursor]:
    # CREATE DATABASE refuses to run in a transaction.
    with closing(psycopg2.connect(admin_url, connect_timeout=10)) as connection:
        connection.autocommit = True
        with connection.cursor() as statements:
            yield statements


def can_connect(url: str) -> bool:
    """Whether a session can be opened at this URL."""
    try:
        psycopg2.connect(url, connect_timeout=5).close()
    except psycopg2.OperationalError:
        return False
    return True


def ensure_owner(admin_url: str, role: str, password: str) -> None:
    """Make or mend the application's role: it may log in and create roles, and is no superuser."""
    attributes = sql.SQL("ROLE {} LOGIN NOSUPERUSER NOBYPASSRLS CREATEROLE PASSWORD {}").format(
        sql.Identifier(role), sql.Literal(password)
    )
    with _superuser(admin_url) as statements:
        try:
            statements.execute(sql.SQL("CREATE ") + attributes)
        except errors.DuplicateObject:
            statements.execute(sql.SQL("ALTER ") + attributes)


def set_for_role(admin_url: str, role: str, settings: Mapping[str, str]) -> None:
    """Give every later session of the role these settings."""
    with _superuser(admin_url) as statements:
        for name, value in settings.items():
            statements.execute(
                sql.SQL("ALTER ROLE {} SET {} TO {}").format(
                    sql.Identifier(role), sql.Identifier(name), sql.Literal(value)
                )
            )


def create_database(admin_url: str, name: str, owner: str, template: str | None = None) -> None:
    """Make a database that belongs to `owner`, as a copy of `template` when one is named.

    Raises psycopg2.errors.DuplicateDatabase, or ObjectInUse while the template has sessions.
    """
    statement = sql.SQL("CREATE DATABASE {} OWNER {} TEMPLATE {}").format(
        sql.Identifier(name), sql.Identifier(owner), sql.Identifier(template or "template1")
    )
    with _superuser(admin_url) as statements:
        statements.execute(statement)


def ensure_database(admin_url: str, name: str, owner: str) -> None:
    """Make the database if it is not there."""
    try:
        create_database(admin_url, name, owner)
    except errors.DuplicateDatabase:
        return


def drop_database(admin_url: str, name: str) -> None:
    """Remove the database if it is there, sessions in it included."""
    statement = sql.SQL("DROP DATABASE IF EXISTS {} WITH (FORCE)").format(sql.Identifier(name))
    with _superuser(admin_url) as statements:
        statements.execute(statement)
