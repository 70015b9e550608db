"""Manage roles and databases in an embedded PostgreSQL, as its superuser."""

import secrets
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager
from urllib.parse import urlsplit, urlunsplit

import psycopg2
from psycopg2 import errors, sql
from psycopg2.extensions import cursor

from app.kit.db_guard.deadlines import LIBPQ_TIMEOUTS


@contextmanager
def _connect_as_superuser(admin_url: str) -> Iterator[cursor]:
    # CREATE DATABASE cannot run in a transaction.
    with closing(
        psycopg2.connect(admin_url, **{**LIBPQ_TIMEOUTS, "connect_timeout": 10})
    ) as connection:
        connection.autocommit = True
        with connection.cursor() as db_cursor:
            yield db_cursor


def can_connect(url: str) -> bool:
    """Return whether PostgreSQL accepts a connection with this URL."""
    try:
        psycopg2.connect(url, **LIBPQ_TIMEOUTS).close()
    except psycopg2.OperationalError:
        return False
    return True


def ensure_owner_role(admin_url: str, role: str, password: str) -> None:
    """Create or update the role that owns the application's database.

    The role has LOGIN and CREATEROLE, but not SUPERUSER.
    """
    attributes = sql.SQL("ROLE {} LOGIN NOSUPERUSER NOBYPASSRLS CREATEROLE PASSWORD {}").format(
        sql.Identifier(role), sql.Literal(password)
    )
    with _connect_as_superuser(admin_url) as db_cursor:
        try:
            db_cursor.execute(sql.SQL("CREATE ") + attributes)
        except errors.DuplicateObject:
            db_cursor.execute(sql.SQL("ALTER ") + attributes)


def create_application_role(url: str, role: str, owner: str) -> None:
    """Create the role that the application switches to, and grant it to the database's owner.

    The dump of a database does not contain this role, because roles belong to the cluster.
    """
    create = sql.SQL("CREATE ROLE {} NOLOGIN NOSUPERUSER NOBYPASSRLS NOCREATEDB NOCREATEROLE")
    grant = sql.SQL("GRANT {} TO {} WITH SET TRUE, INHERIT FALSE")
    with (
        closing(psycopg2.connect(url, connect_timeout=10)) as connection,
        connection,
        connection.cursor() as db_cursor,
    ):
        db_cursor.execute(create.format(sql.Identifier(role)))
        db_cursor.execute(grant.format(sql.Identifier(role), sql.Identifier(owner)))


@contextmanager
def create_temporary_superuser(admin_url: str, role: str, owner: str) -> Iterator[str]:
    """Create a superuser for the duration of a `with` block, and yield its URL.

    The URL has the host, port and database of `admin_url`. After the block, the objects that the
    superuser created are reassigned to `owner`, and the superuser is dropped. If the block raises,
    the superuser remains, so the caller must discard the server's data.
    """
    parts = urlsplit(admin_url)
    password = secrets.token_urlsafe(24)
    names = {"role": sql.Identifier(role), "owner": sql.Identifier(owner)}
    create = sql.SQL("CREATE ROLE {} SUPERUSER LOGIN PASSWORD {}")
    with _connect_as_superuser(admin_url) as db_cursor:
        db_cursor.execute(create.format(names["role"], sql.Literal(password)))
    yield urlunsplit(parts._replace(netloc=f"{role}:{password}@{parts.hostname}:{parts.port}"))
    with _connect_as_superuser(admin_url) as db_cursor:
        for statement in ("REASSIGN OWNED BY {role} TO {owner}", "DROP ROLE {role}"):
            db_cursor.execute(sql.SQL(statement).format(**names))


@contextmanager
def rename_role_temporarily(admin_url: str, role: str, name: str) -> Iterator[None]:
    """Rename `role` to `name` for the duration of a `with` block.

    If another role has the name `name`, it gets a temporary name. The superuser in `admin_url` must
    be a third role. If the block raises, the roles keep their new names.
    """
    if role == name:
        yield
        return
    temporary_name = f"{name}_{secrets.token_hex(4)}"
    was_taken = _rename_role(admin_url, name, temporary_name)
    _rename_role(admin_url, role, name)
    yield
    _rename_role(admin_url, name, role)
    if was_taken:
        _rename_role(admin_url, temporary_name, name)


def _rename_role(admin_url: str, role: str, name: str) -> bool:
    """Rename a role if it exists, and return whether it existed."""
    statement = sql.SQL("ALTER ROLE {} RENAME TO {}")
    with _connect_as_superuser(admin_url) as db_cursor:
        try:
            db_cursor.execute(statement.format(sql.Identifier(role), sql.Identifier(name)))
        except errors.UndefinedObject:
            return False
    return True


def set_role_settings(admin_url: str, role: str, settings: Mapping[str, str]) -> None:
    """Set PostgreSQL settings for all future sessions of a role."""
    with _connect_as_superuser(admin_url) as db_cursor:
        for name, value in settings.items():
            db_cursor.execute(
                sql.SQL("ALTER ROLE {} SET {} TO {}").format(
                    sql.Identifier(role), sql.Identifier(name), sql.Literal(value)
                )
            )


def create_database(admin_url: str, name: str, owner: str, template: str | None = None) -> None:
    """Create a database that `owner` owns, as a copy of `template` or, by default, template1.

    Raises psycopg2.errors.DuplicateDatabase if the database exists, and ObjectInUse if the template
    has open sessions.
    """
    statement = sql.SQL("CREATE DATABASE {} OWNER {} TEMPLATE {}").format(
        sql.Identifier(name), sql.Identifier(owner), sql.Identifier(template or "template1")
    )
    with _connect_as_superuser(admin_url) as db_cursor:
        db_cursor.execute(statement)


def ensure_database(admin_url: str, name: str, owner: str) -> None:
    """Create a database that `owner` owns, unless the database exists."""
    try:
        create_database(admin_url, name, owner)
    except errors.DuplicateDatabase:
        return


def drop_database(admin_url: str, name: str) -> None:
    """Terminate all sessions of a database, and drop it, if it exists."""
    statement = sql.SQL("DROP DATABASE IF EXISTS {} WITH (FORCE)").format(sql.Identifier(name))
    with _connect_as_superuser(admin_url) as db_cursor:
        db_cursor.execute(statement)
