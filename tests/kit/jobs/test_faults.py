"""Platform faults never count as attempts of a job."""

import errno

import psycopg2
import pytest
from redis.exceptions import ConnectionError as RedisConnectionError
from sqlalchemy import text

from app.kit import db
from app.kit.jobs.faults import is_fault
from app.kit.jobs.handlers import Job
from app.kit.storage import StorageUnavailable
from tests.factories import Org, run_jobs_of
from tests.kit.jobs.workshop import declare_handler, enqueue, make_due, rows

_FAILING_STATEMENTS = {
    "the table is gone": "SELECT * FROM a_table_that_is_not_there",
    "a trigger raises": "DO $$ BEGIN RAISE EXCEPTION 'no room'; END $$",
    "it takes too long": "SET LOCAL statement_timeout = '1ms'; SELECT pg_sleep(1)",
}


@pytest.mark.parametrize("statement", _FAILING_STATEMENTS.values(), ids=_FAILING_STATEMENTS)
def test_a_database_that_refuses_is_waited_for(org: Org, statement: str) -> None:
    refusing = [True]

    def run(job: Job) -> None:
        if refusing[0]:
            db.session().execute(text(statement))

    with declare_handler("test.refused", run, max_attempts=1):
        enqueue(org, "test.refused", {})
        for faults in range(1, 13):
            run_jobs_of(org, "default")
            (row,) = rows(org)
            assert (row.status, row.attempts, row.faults) == ("queued", 0, faults)
            make_due(org)
        refusing[0] = False
        run_jobs_of(org, "default")
    assert [row.status for row in rows(org)] == ["completed"]


@pytest.mark.parametrize(
    ("error", "expected"),
    [
        (psycopg2.OperationalError("server closed the connection"), True),
        (psycopg2.InterfaceError("connection already closed"), True),
        (psycopg2.DatabaseError("no message from the libpq"), True),
        (psycopg2.ProgrammingError("can't adapt"), False),
        (psycopg2.DataError("invalid byte"), False),
    ],
)
def test_errors_that_come_unwrapped_are_told_apart(
    error: psycopg2.Error, *, expected: bool
) -> None:
    assert is_fault(error) is expected


def test_faults_in_a_row_are_counted(org: Org) -> None:
    """An error of the job itself resets the count."""
    failures = [StorageUnavailable("away"), RuntimeError("mine"), StorageUnavailable("away")]

    def run(job: Job) -> None:
        raise failures.pop(0)

    seen = []
    with declare_handler("test.mixed", run):
        enqueue(org, "test.mixed", {})
        for _ in range(3):
            run_jobs_of(org, "default")
            (row,) = rows(org)
            seen.append((row.attempts, row.faults))
            make_due(org)
    assert seen == [(0, 1), (1, 0), (1, 1)]


@pytest.mark.parametrize(
    "error",
    [
        StorageUnavailable("away"),
        RedisConnectionError("away"),
        OSError(errno.ENOSPC, "no space left"),
        ConnectionResetError("reset"),
    ],
    ids=lambda error: type(error).__name__,
)
def test_what_is_a_fault(error: Exception) -> None:
    assert is_fault(error)
    wrapped = RuntimeError("could not be done")
    wrapped.__cause__ = error
    assert is_fault(wrapped)


@pytest.mark.parametrize(
    "error",
    [
        RuntimeError("mine"),
        KeyError("mine"),
        FileNotFoundError(errno.ENOENT, "gone"),
        MemoryError(),
    ],
    ids=lambda error: type(error).__name__,
)
def test_what_is_the_jobs_own(error: Exception) -> None:
    assert not is_fault(error)
