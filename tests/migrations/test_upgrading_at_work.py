"""`upgrade head` beside instances of the release before, on tables that are not small."""

from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass

import pytest
from sqlalchemy import create_engine

from tests.factories.waiting import wait_until
from tests.migrations.conftest import BEFORE, Databases, Migrating
from tests.migrations.old_release import CREATE, OPTIONS, SEARCH, Instance, Organization

DOCUMENTS = 4_000
"""Of each organization: several batches of every backfill."""

# What follows from documents and label sets, worked out by other means than triggers and backfills.
ASSIGNED = """
SELECT a.organization_id, a.id, coalesce(one ->> 'team_id', one ->> 'user_id')::uuid, a.schema_id,
    CASE WHEN a.nearly_due THEN 101 ELSE a.priority END,
    CASE WHEN a.nearly_due THEN a.due_at - a.priority * interval '1 millisecond'
         ELSE a.created_at END, a.labeled_by,
    a.status IN ('ready', 'in_progress') AND NOT a.archived
FROM artifacts a CROSS JOIN jsonb_array_elements(a.assignees) AS one
"""
FOLLOWED = """
SELECT organization_id, artifact_id, assignee_id, schema_id, priority, urgent_at, labeled_by,
    is_open
FROM artifact_assignees
"""
WRONGLY_LABELED = """
SELECT count(*) FROM artifacts a WHERE
    ARRAY(SELECT unnest(a.labeled_by) ORDER BY 1) <> ARRAY(
        SELECT s.labeler_id FROM tag_sets s
        WHERE s.organization_id = a.organization_id AND s.artifact_id = a.id
          AND s.status IN ('submitted', 'accepted') ORDER BY 1)
    OR ARRAY(SELECT unnest(a.reserved_for) ORDER BY 1) <> ARRAY(
        SELECT s.labeler_id FROM tag_sets s
        WHERE s.organization_id = a.organization_id AND s.artifact_id = a.id
          AND s.status = 'draft' AND s.reason IS NOT NULL ORDER BY 1)
"""
NOT_SEARCHED = """
SELECT count(*) FROM artifact_texts t
WHERE NOT EXISTS (SELECT FROM artifact_search s WHERE s.organization_id = t.organization_id
                    AND s.artifact_id = t.artifact_id)
  AND (t.search = '' OR NOT EXISTS (SELECT FROM artifact_search_backlog b
                                    WHERE b.organization_id = t.organization_id))
"""

# Rows that were there, and those that instances of the release before write meanwhile and after.
WRONGLY_COUNTED = """
SELECT s.source, d.cube, d.facets, d.n FROM organizations o CROSS JOIN count_sources s
CROSS JOIN LATERAL count_differences(o.id, s.source) AS d
"""


@dataclass(frozen=True)
class Upgraded:
    """A database that was upgraded while two instances were at work, and their rounds."""

    database: Migrating
    organizations: list[Organization]
    before: list[int]
    during: list[int]


@contextmanager
def at_work(migrating: Migrating, organizations: list[Organization]) -> Iterator[list[Instance]]:
    """Instances of the release before, which must not notice anything."""
    instances = [Instance(migrating.url, organization) for organization in organizations]
    for instance in instances:
        instance.start()
    try:
        wait_until(
            lambda: all(one.rounds or one.failure for one in instances), "a round of each instance"
        )
        yield instances
    finally:
        for instance in instances:
            instance.stop()
    assert [one.failure for one in instances] == [None, None]


def check(migrating: Migrating) -> None:
    """Nothing is missing, nothing is half-done."""
    assert (
        migrating.rows(f"({ASSIGNED} EXCEPT {FOLLOWED}) UNION ({FOLLOWED} EXCEPT {ASSIGNED})") == []
    )
    assert migrating.rows(WRONGLY_LABELED) == [(0,)]
    assert migrating.rows(NOT_SEARCHED) == [(0,)]
    assert migrating.rows(WRONGLY_COUNTED) == []
    assert migrating.rows("SELECT count(*) > 0 FROM counts WHERE cube = 'artifacts'") == [(True,)]
    assert migrating.invalid() == []


@pytest.fixture(scope="module")
def upgraded(databases: Databases) -> Upgraded:
    """Upgrade a filled database of the previous release while instances of that release run."""
    database = databases.create_at(BEFORE)
    organizations = [Organization(), Organization()]
    with closing(database.connect()) as connection:
        for organization in organizations:
            organization.fill(connection, DOCUMENTS)
    with at_work(database, organizations) as instances:
        before = [one.rounds for one in instances]
        database.run("upgrade", "head")
        during = [one.rounds for one in instances]
        # They go on with the schema of the release after.
        wait_until(
            lambda: all(
                one.failure or one.rounds > rounds + 1
                for one, rounds in zip(instances, during, strict=True)
            ),
            "more rounds of each instance",
        )
    return Upgraded(database, organizations, before, during)


@pytest.fixture
def migrating(databases: Databases, upgraded: Upgraded) -> Iterator[Migrating]:
    """Copy the upgraded database."""
    copy = databases.create(upgraded.database)
    yield copy
    databases.drop(copy)


@pytest.fixture
def organizations(upgraded: Upgraded) -> list[Organization]:
    return upgraded.organizations


def test_nobody_who_works_meanwhile_fails(migrating: Migrating, upgraded: Upgraded) -> None:
    rounds = zip(upgraded.during, upgraded.before, strict=True)
    assert all(after > before for after, before in rounds)
    check(migrating)
    assert differences(migrating) == []
    assert migrating.rows("SELECT count(*) FROM artifact_assignees WHERE priority = 90")[0][0] > 0


def differences(migrating: Migrating) -> list[object]:
    """What the models have and the database has not, or the other way round."""
    from alembic.autogenerate import compare_metadata  # noqa: PLC0415
    from alembic.migration import MigrationContext  # noqa: PLC0415

    from app import features  # noqa: F401, PLC0415 - declares every model
    from app.kit.db import Base  # noqa: PLC0415

    engine = create_engine(migrating.url.replace("postgresql://", "postgresql+psycopg2://", 1))
    with engine.connect() as connection:
        context = MigrationContext.configure(connection, opts={"compare_type": True})
        found = compare_metadata(context, Base.metadata)
    engine.dispose()
    return list(found)


def test_back_and_forth_again_loses_nothing(
    migrating: Migrating, organizations: list[Organization]
) -> None:
    _take_in(migrating, organizations[0])
    migrating.run("downgrade", BEFORE)
    assert migrating.rows("SELECT count(*) FROM artifact_texts WHERE search = ''") == [(0,)]
    with at_work(migrating, organizations):
        migrating.run("upgrade", "head")
    check(migrating)


def test_old_instances_find_what_new_ones_take_in(
    migrating: Migrating, organizations: list[Organization]
) -> None:
    taken_in = _take_in(migrating, organizations[0])
    found = [_search(migrating, organization, "parrot") for organization in organizations]
    assert found == [[taken_in], []]
    assert len(_search(migrating, organizations[1], '"month 17"')) == 1


def _take_in(migrating: Migrating, organization: Organization) -> str:
    """A document as a new instance writes it: without a vector of the old kind."""
    values = organization.values(document="018f0000-0000-7000-8000-000000000001")
    migrating.rows(CREATE, values)
    migrating.rows(
        "UPDATE artifact_texts SET text = 'a dead parrot', search = ''"
        " WHERE organization_id = %(org)s AND artifact_id = %(document)s",
        values,
    )
    return str(values["document"])


def _search(migrating: Migrating, organization: Organization, words: str) -> list[str]:
    options = f"{OPTIONS} -c app.organization_id={organization.id}"
    with closing(migrating.connect(options)) as connection, connection.cursor() as cursor:
        cursor.execute(SEARCH, organization.values(words=words))
        return [row[0] for row in cursor.fetchall()]
