"""Migrations that are killed in their middle, or meet another one."""

import subprocess
from collections.abc import Iterator
from contextlib import closing, contextmanager

import pytest

from tests.factories.waiting import wait_until
from tests.migrations.conftest import BEFORE, Migrating
from tests.migrations.old_release import Organization

WAITS = """
SELECT index_relid::regclass::text FROM pg_stat_progress_create_index
WHERE datname = current_database() AND phase LIKE 'waiting%'
"""
FILLED = "SELECT count(*) FROM artifacts WHERE labeled_by <> '{}' OR reserved_for <> '{}'"


@pytest.fixture
def organization(migrating: Migrating) -> Organization:
    migrating.run("upgrade", BEFORE)
    made = Organization()
    with closing(migrating.connect()) as connection:
        made.fill(connection, 5_000)
    return made


@contextmanager
def held(migrating: Migrating, statement: str) -> Iterator[None]:
    """A transaction that stays open after `statement`."""
    with closing(migrating.connect()) as connection, connection.cursor() as cursor:
        cursor.execute(statement)
        yield
        connection.rollback()


def said(process: subprocess.Popen[str], words: str) -> bool:
    """Whether a command says so before its end."""
    assert process.stderr is not None
    return any(words in line for line in process.stderr)


def test_an_index_is_built_again_where_its_build_was_killed(
    migrating: Migrating, organization: Organization
) -> None:
    migrating.run("upgrade", "202611212340")
    with held(migrating, "UPDATE tag_set_revisions SET note = 'x' WHERE number = 1"):
        process = migrating.start("upgrade", "head")
        wait_until(lambda: bool(migrating.rows(WAITS)), "a build that waits")
        building = migrating.rows(WAITS)
        migrating.kill(process)
        assert migrating.invalid() == [row[0] for row in building]
    migrating.run("upgrade", "head")
    assert migrating.invalid() == []


def test_a_backfill_goes_on_where_it_was_killed(
    migrating: Migrating, organization: Organization
) -> None:
    migrating.run("upgrade", "202611212320")
    ((last,),) = migrating.rows(
        "SELECT artifact_id FROM tag_sets ORDER BY organization_id, artifact_id DESC LIMIT 1"
    )
    with held(migrating, f"UPDATE artifacts SET name = name WHERE id = '{last}'"):
        process = migrating.start("upgrade", "head")
        wait_until(lambda: migrating.rows(FILLED)[0][0] > 1000, "some batches")
        migrating.kill(process)
    ((filled,),) = migrating.rows(FILLED)
    before = dict(migrating.rows("SELECT id, xmin::text FROM artifacts WHERE labeled_by <> '{}'"))
    assert 1000 < filled < 15 * 5_000 // 8
    migrating.run("upgrade", "head")
    after = dict(migrating.rows("SELECT id, xmin::text FROM artifacts WHERE labeled_by <> '{}'"))
    assert {key: after[key] for key in before} == before
    assert migrating.rows(FILLED) == migrating.rows("SELECT count(*) FROM tag_sets")


def test_two_that_start_at_once_do_not_wait_for_each_other(
    migrating: Migrating, organization: Organization
) -> None:
    migrating.run("upgrade", "202611212340")
    with held(migrating, "UPDATE tag_set_revisions SET note = 'x' WHERE number = 1"):
        first = migrating.start("upgrade", "head")
        wait_until(lambda: bool(migrating.rows(WAITS)), "a build that waits")
        second = migrating.start("upgrade", "head")
        assert said(second, "Another process is migrating")
    migrating.check_success(first)
    migrating.check_success(second)
    assert migrating.invalid() == []


def test_a_table_that_somebody_holds_is_asked_for_again(
    migrating: Migrating, organization: Organization
) -> None:
    with held(migrating, "LOCK TABLE schemas IN ACCESS EXCLUSIVE MODE"):
        process = migrating.start("upgrade", "202611212300")
        assert said(process, "retrying in")
    migrating.check_success(process)
    assert migrating.rows("SELECT version_num FROM alembic_version") == [("202611212300",)]
