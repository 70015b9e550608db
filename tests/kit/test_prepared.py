"""Prepared statements: they raise SQLAlchemy errors, and drop broken connections."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager

import psycopg2
import pytest
from flask import Flask
from sqlalchemy import text
from sqlalchemy.exc import DBAPIError, ProgrammingError

from app.kit import db, db_errors, prepared, tenancy
from app.kit.errors import ApiError
from app.kit.prepared import Prepared
from devserver.postgres import EmbeddedPostgres
from tests.factories import Org
from tests.factories.sessions import terminate_backend
from tests.factories.waiting import wait_until

BACKEND = Prepared("test_backend", "", "SELECT pg_backend_pid()")
SLOW = Prepared("test_slow", "", "SELECT pg_sleep(60)")
FORBIDDEN = Prepared("test_forbidden", "", "SELECT count(*) FROM pg_authid")
RETYPED = Prepared("test_retyped", "", "SELECT value FROM retyped")
COUNT = Prepared("test_count", "", "SELECT count(*) FROM memberships")


@pytest.fixture(autouse=True)
def _fresh() -> None:
    prepared.drop_connection()


@contextmanager
def _run_request(app: Flask, *, read_only: bool = True) -> Iterator[None]:
    """Run the block like a request that only reads, or one that also writes."""
    with app.app_context():
        db.set_read_only(read_only=read_only)
        try:
            yield
        finally:
            db.set_read_only(read_only=False)


def test_the_next_transaction_uses_the_connection_that_was_used_last(app: Flask) -> None:
    statement = text("SELECT pg_backend_pid()")
    with app.app_context(), tenancy.across_organizations(reason="a test"):
        engine = db.engine()
        with engine.connect() as last, engine.connect():
            pid = last.execute(statement).scalar_one()
        with engine.connect() as following:
            assert following.execute(statement).scalar_one() == pid


def _get_failure(statement: Prepared) -> ApiError:
    """Return the API error for a statement that must fail because of the database."""
    with pytest.raises(DBAPIError) as failure:
        statement.first()
    translated = db_errors.translate(failure.value)
    assert isinstance(translated, ApiError)
    assert translated.status == 503
    return translated


def test_reads_keep_the_connection_of_their_thread(app: Flask) -> None:
    with _run_request(app):
        first, second = BACKEND.first(), BACKEND.first()
    assert first == second


def _end_slow_statement(admin_url: str) -> None:
    """Terminate the session that runs SLOW as soon as it exists."""
    with closing(psycopg2.connect(admin_url)) as admin, admin.cursor() as cursor:
        admin.autocommit = True

        def terminated() -> bool:
            cursor.execute(
                "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
                " WHERE query LIKE '%EXECUTE test_slow%' AND state = 'active'"
                " AND pid <> pg_backend_pid()"
            )
            return bool(cursor.fetchall())

        wait_until(terminated, "the slow statement", 30)


def test_a_connection_that_breaks_is_replaced_and_reported_as_unavailable(
    app: Flask, postgres: EmbeddedPostgres
) -> None:
    with _run_request(app), ThreadPoolExecutor(1) as pool:
        end = pool.submit(_end_slow_statement, postgres.admin_url)
        assert _get_failure(SLOW).details == {"reason": "database"}
        end.result()
        assert BACKEND.first() is not None


def test_a_connection_that_was_closed_meanwhile_is_replaced_unnoticed(
    app: Flask, postgres: EmbeddedPostgres
) -> None:
    with _run_request(app):
        (pid,) = BACKEND.first()
    terminate_backend(postgres.admin_url, pid)
    with _run_request(app):
        assert BACKEND.first() != (pid,)


@pytest.mark.parametrize("reading", [True, False])
def test_statements_are_planned_anew_once_a_column_has_changed_its_type(
    app: Flask, environ: dict[str, str], *, reading: bool
) -> None:
    database = environ["DATABASE_URL"]
    with _run_request(app, read_only=reading), closing(psycopg2.connect(database)) as other:
        other.autocommit = True
        cursor = other.cursor()
        cursor.execute("CREATE TABLE retyped AS SELECT 1 AS value")
        cursor.execute("GRANT SELECT ON retyped TO PUBLIC")
        try:
            # The pool then has one connection, so the same connection is used again.
            db.engine().dispose()
            assert RETYPED.first() == (1,)
            db.session().rollback()
            cursor.execute("ALTER TABLE retyped ALTER COLUMN value TYPE text")
            _get_failure(RETYPED)
            db.session().rollback()
            assert RETYPED.first() == ("1",)
            db.session().rollback()
        finally:
            cursor.execute("DROP TABLE retyped")


def test_a_database_that_cannot_be_reached_is_unavailable(
    app: Flask, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse() -> None:
        raise psycopg2.OperationalError("connection refused")

    with _run_request(app):
        monkeypatch.setattr(db.db.engines["read"], "raw_connection", refuse)
        _get_failure(BACKEND)


@pytest.mark.parametrize("reading", [True, False])
def test_errors_of_a_statement_are_sqlalchemys(app: Flask, *, reading: bool) -> None:
    with _run_request(app, read_only=reading):
        with pytest.raises(ProgrammingError):
            FORBIDDEN.first()
        db.session().rollback()
        assert BACKEND.first() is not None
        db.session().rollback()


@pytest.mark.parametrize("reading", [True, False])
def test_the_scope_travels_along(org: Org, other_org: Org, *, reading: bool) -> None:
    with _run_request(org.app, read_only=reading):
        assert COUNT.first() == (0,)
        with tenancy.organization(org.id):
            assert COUNT.first() == (5,)
        assert COUNT.first() == (0,)
        db.session().rollback()
