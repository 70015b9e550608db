"""Roles and databases of an embedded PostgreSQL, made through its superuser."""

import secrets
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager
from urllib.parse import urlsplit, urlunsplit

import psycopg2
from psycopg2 import errors, sql
from psycopg2.extensions import cursor

from app.kit.db_guard.deadlines import LIBPQ


@contextmanager
def _superuser(admin_url: str) -> Iterator[cursor]:
    # CREATE DATABASE refuses to run in a transaction.
    with closing(psycopg2.connect(admin_url, **{**LIBPQ, "connect_timeout": 10})) as connection:
        connection.autocommit = True
        with connection.cursor() as statements:
            yield statements


def can_connect(url: str) -> bool:
    """Whether a session can be opened at this URL."""
    try:
        psycopg2.connect(url, **LIBPQ).close()
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


def ensure_application_role(url: str, role: str, owner: str) -> None:
    """Create the role that the application works under, for the owner of the database at `url`.

    Roles belong to the cluster: a dump of the database does not have it.
    """
    create = sql.SQL("CREATE ROLE {} NOLOGIN NOSUPERUSER NOBYPASSRLS NOCREATEDB NOCREATEROLE")
    grant = sql.SQL("GRANT {} TO {} WITH SET TRUE, INHERIT FALSE")
    with (
        closing(psycopg2.connect(url, connect_timeout=10)) as connection,
        connection,
        connection.cursor() as statements,
    ):
        statements.execute(create.format(sql.Identifier(role)))
        statements.execute(grant.format(sql.Identifier(role), sql.Identifier(owner)))


@contextmanager
def temporary_superuser(admin_url: str, role: str, owner: str) -> Iterator[str]:
    """Create a superuser for the block, and yield its URL for the database of `admin_url`.

    In the end what it owns there belongs to `owner`, and the role is gone.
    """
    parts = urlsplit(admin_url)
    password = secrets.token_urlsafe(24)
    names = {"role": sql.Identifier(role), "owner": sql.Identifier(owner)}
    create = sql.SQL("CREATE ROLE {} SUPERUSER LOGIN PASSWORD {}")
    with _superuser(admin_url) as statements:
        statements.execute(create.format(names["role"], sql.Literal(password)))
    yield urlunsplit(parts._replace(netloc=f"{role}:{password}@{parts.hostname}:{parts.port}"))
    with _superuser(admin_url) as statements:
        for statement in ("REASSIGN OWNED BY {role} TO {owner}", "DROP ROLE {role}"):
            statements.execute(sql.SQL(statement).format(**names))


@contextmanager
def renamed(admin_url: str, role: str, name: str) -> Iterator[None]:
    """Let `role` have another name for the block. A role that has this name steps aside.

    `admin_url` is of a superuser that is neither of the two.
    """
    if role == name:
        yield
        return
    aside = f"{name}_{secrets.token_hex(4)}"
    is_taken = _rename(admin_url, name, aside)
    _rename(admin_url, role, name)
    yield
    _rename(admin_url, name, role)
    if is_taken:
        _rename(admin_url, aside, name)


def _rename(admin_url: str, role: str, name: str) -> bool:
    """Rename a role; return whether there is one."""
    statement = sql.SQL("ALTER ROLE {} RENAME TO {}")
    with _superuser(admin_url) as statements:
        try:
            statements.execute(statement.format(sql.Identifier(role), sql.Identifier(name)))
        except errors.UndefinedObject:
            return False
    return True


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
