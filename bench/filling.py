"""Fill the database quickly: create members, teams and audit entries, or disable triggers."""

import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from typing import Any

import psycopg2
from sqlalchemy import text
from sqlalchemy.dialects.postgresql.psycopg2 import PGDialect_psycopg2

from app.kit import db, tenancy
from bench.service import Service
from tests.factories import Org

_MEMBERS = """
INSERT INTO users (id, email, name, locale, time_zone, token_version, created_at, updated_at,
                   revision)
SELECT md5('{salt}user' || i)::uuid, '{salt}-' || i || '@test.example', 'Person ' || i, 'en', 'UTC',
       1, now(), now(), 1
FROM generate_series(1, {rows}) AS i;
INSERT INTO memberships (organization_id, user_id, role, sort_name, created_at)
SELECT '{org}', md5('{salt}user' || i)::uuid, 'labeler', 'person ' || i,
       now() + i * interval '1 millisecond'
FROM generate_series(1, {rows}) AS i;
"""
_TEAMS = """
INSERT INTO teams (organization_id, id, name, skills, skill_keys, description, member_count,
                   created_at, updated_at, revision)
SELECT '{org}', md5('{salt}team' || i)::uuid, 'Team ' || i, '["English"]', '{{english}}', '',
       {members}, now(), now(), 1
FROM generate_series({first}, {last}) AS i;
"""
_TEAM_MEMBERS = """
INSERT INTO team_members (organization_id, team_id, user_id, created_at)
SELECT '{org}', md5('{salt}team' || i)::uuid, md5('{salt}user' || i)::uuid, now()
FROM generate_series(1, {rows}) AS i;
"""
_RECOUNT = "SELECT repair_counts(o.id, s.source) FROM organizations o CROSS JOIN count_sources s"
_BATCH = 5_000
_MAX_APPEND_SECONDS = 300


@contextmanager
def open_cursor(service: Service) -> Iterator[Any]:
    """Yield an autocommit cursor of the database owner, with access to all organizations."""
    options = "-c app.all_organizations=on"
    with closing(psycopg2.connect(service.database_url, options=options)) as connection:
        connection.autocommit = True
        with connection.cursor() as cursor:
            yield cursor


def compile_statement(statement: str) -> str:
    """Convert the `:name` parameters of a statement to the form that a psycopg2 cursor accepts."""
    return str(text(statement).compile(dialect=PGDialect_psycopg2()))  # type: ignore[no-untyped-call]


def analyze(service: Service) -> None:
    """Run VACUUM ANALYZE on the database, as autovacuum would eventually do."""
    with open_cursor(service) as cursor:
        cursor.execute("VACUUM ANALYZE")


def time_and_roll_back(service: Service, org: Org, statement: str, **values: Any) -> float:
    """Run a statement with all triggers enabled, roll it back, and return the time in seconds.

    This is the floor for an operation on many rows: one statement, no batches, no events.
    """
    with service.app.app_context(), tenancy.organization(org.id):
        session = db.session()
        session.execute(text("SET LOCAL statement_timeout = 0"))
        began = time.perf_counter()
        session.execute(text(statement), {"org": org.id, **values})
        seconds = time.perf_counter() - began
        session.rollback()
    return seconds


@contextmanager
def disable_triggers(service: Service) -> Iterator[None]:
    """Disable all triggers in the `with` block, so that the audit log does not record new rows.

    After the block, unless it raises, the triggers are enabled and all counts are recomputed.
    """
    with open_cursor(service) as cursor:
        cursor.execute(
            "SELECT DISTINCT tgrelid::regclass::text FROM pg_trigger WHERE NOT tgisinternal"
        )
        tables = [table for (table,) in cursor.fetchall()]
        for table in tables:
            cursor.execute(f"ALTER TABLE {table} DISABLE TRIGGER USER")
        yield
        for table in tables:
            cursor.execute(f"ALTER TABLE {table} ENABLE TRIGGER USER")
        cursor.execute("SET statement_timeout = 0")
        cursor.execute(_RECOUNT)


def create_members(service: Service, org: Org, rows: int) -> None:
    """Create `rows` members, each in a separate team.

    Triggers are disabled, so the statements also set the columns that triggers maintain.
    """
    values = {"org": org.id, "salt": org.slug, "rows": rows}
    with disable_triggers(service), open_cursor(service) as cursor:
        cursor.execute(_MEMBERS.format(**values))
        cursor.execute(_TEAMS.format(**values, members=1, first=1, last=rows))
        cursor.execute(_TEAM_MEMBERS.format(**values))


def create_audit_entries(service: Service, org: Org, rows: int) -> None:
    """Create `rows` teams, each with an audit entry in the hash chain, or raise TimeoutError."""
    values = {"org": org.id, "salt": org.slug, "members": 0}
    with open_cursor(service) as cursor:
        for first in range(1, rows + 1, _BATCH):
            last = min(first + _BATCH - 1, rows)
            cursor.execute(_TEAMS.format(**values, first=first, last=last))
        deadline = time.monotonic() + _MAX_APPEND_SECONDS
        while time.monotonic() < deadline:
            cursor.execute("SELECT count(*) FROM audit_unsealed")
            if cursor.fetchone()[0] == 0:
                return
            time.sleep(0.5)
    raise TimeoutError("the audit entries were not appended to the hash chain in time")
