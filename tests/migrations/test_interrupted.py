"""Migrations that are killed in their middle, or meet another one."""

from collections.abc import Iterator
from contextlib import closing, contextmanager

import pytest

from tests.factories.waiting import wait_until
from tests.migrations.commands import Command
from tests.migrations.conftest import BEFORE, Databases, Migrating
from tests.migrations.old_release import Organization

DOCUMENTS = 5_000
TABLES, BACKFILLED = "202611212320", "202611212340"
"""Before the backfills, and before the indexes."""
WAITS = """
SELECT index_relid::regclass::text FROM pg_stat_progress_create_index
WHERE datname = current_database() AND phase LIKE 'waiting%'
  AND relid = 'tag_set_revisions'::regclass
"""
"""The builds that wait for the transaction of `held`; others wait for a moment only."""
FILLED = "SELECT count(*) FROM artifacts WHERE labeled_by <> '{}' OR reserved_for <> '{}'"


@pytest.fixture(scope="module")
def filled(databases: Databases) -> dict[str, Migrating]:
    """Fill a database, and copy it at each revision that a test begins with."""
    database = databases.create_at(BEFORE)
    with closing(database.connect()) as connection:
        Organization().fill(connection, DOCUMENTS)
    found = {BEFORE: database}
    for revision in (TABLES, BACKFILLED):
        database = databases.create(database)
        database.run("upgrade", revision)
        found[revision] = database
    return found


@pytest.fixture
def migrating(
    request: pytest.FixtureRequest, databases: Databases, filled: dict[str, Migrating]
) -> Iterator[Migrating]:
    """Copy the database at the revision that is the test's parameter."""
    copy = databases.create(filled[request.param])
    yield copy
    databases.drop(copy)


@contextmanager
def held(migrating: Migrating, statement: str) -> Iterator[None]:
    """A transaction that stays open after `statement`."""
    with closing(migrating.connect()) as connection, connection.cursor() as cursor:
        cursor.execute(statement)
        yield
        connection.rollback()


def said(process: Command, words: str) -> bool:
    """Whether a command says so before its end."""
    return any(words in line for line in process.stderr)


@pytest.mark.parametrize("migrating", [BACKFILLED], indirect=True)
def test_an_index_is_built_again_where_its_build_was_killed(migrating: Migrating) -> None:
    with held(migrating, "UPDATE tag_set_revisions SET note = 'x' WHERE number = 1"):
        process = migrating.start("upgrade", "head")
        wait_until(lambda: bool(migrating.rows(WAITS)), "a build that waits")
        building = migrating.rows(WAITS)
        migrating.kill(process)
        assert migrating.invalid() == [row[0] for row in building]
    migrating.run("upgrade", "head")
    assert migrating.invalid() == []


@pytest.mark.parametrize("migrating", [TABLES], indirect=True)
def test_a_backfill_goes_on_where_it_was_killed(migrating: Migrating) -> None:
    ((last,),) = migrating.rows(
        "SELECT artifact_id FROM tag_sets ORDER BY organization_id, artifact_id DESC LIMIT 1"
    )
    with held(migrating, f"UPDATE artifacts SET name = name WHERE id = '{last}'"):
        process = migrating.start("upgrade", "head")
        wait_until(lambda: migrating.rows(FILLED)[0][0] > 1000, "some batches")
        migrating.kill(process)
    ((filled,),) = migrating.rows(FILLED)
    before = dict(migrating.rows("SELECT id, xmin::text FROM artifacts WHERE labeled_by <> '{}'"))
    assert 1000 < filled < 15 * DOCUMENTS // 8
    migrating.run("upgrade", "head")
    after = dict(migrating.rows("SELECT id, xmin::text FROM artifacts WHERE labeled_by <> '{}'"))
    assert {key: after[key] for key in before} == before
    assert migrating.rows(FILLED) == migrating.rows("SELECT count(*) FROM tag_sets")


@pytest.mark.parametrize("migrating", [BACKFILLED], indirect=True)
def test_two_that_start_at_once_do_not_wait_for_each_other(migrating: Migrating) -> None:
    with held(migrating, "UPDATE tag_set_revisions SET note = 'x' WHERE number = 1"):
        first = migrating.start("upgrade", "head")
        wait_until(lambda: bool(migrating.rows(WAITS)), "a build that waits")
        second = migrating.start("upgrade", "head")
        assert said(second, "Another process is migrating")
    migrating.check_success(first)
    migrating.check_success(second)
    assert migrating.invalid() == []


@pytest.mark.parametrize("migrating", [BEFORE], indirect=True)
def test_a_table_that_somebody_holds_is_asked_for_again(migrating: Migrating) -> None:
    with held(migrating, "LOCK TABLE schemas IN ACCESS EXCLUSIVE MODE"):
        process = migrating.start("upgrade", "202611212300")
        assert said(process, "retrying in")
    migrating.check_success(process)
    assert migrating.rows("SELECT version_num FROM alembic_version") == [("202611212300",)]
