"""Round-robin order: one organization's backlog does not delay other organizations."""

from collections.abc import Iterator
from contextlib import closing
from uuid import UUID

import psycopg2
import pytest
from flask import Flask
from sqlalchemy import text

from app.kit import db, jobs
from app.kit.jobs import claims, handlers, worker
from app.kit.jobs.claims import ClaimedJob
from app.kit.jobs.handlers import Job
from app.kit.jobs.queues import Queue, QueueGroup, compute_quota, count_local_slots
from devserver.postgres import EmbeddedPostgres
from tests.factories import Org, make_org
from tests.factories.orgs import transaction_across_organizations
from tests.kit.jobs.workshop import declare_handler, sql
from tests.plans.explaining import explaining

MANY = 300
BACKLOG = 20_000


@pytest.fixture
def queue(monkeypatch: pytest.MonkeyPatch, org: Org) -> Iterator[str]:
    """Return a separate queue, with a handler for single jobs and a handler for batches."""
    name = f"test-{org.slug}"
    monkeypatch.setitem(handlers.QUEUES, name, Queue(name, QueueGroup("test")))

    def ignore(_: Job) -> None:
        """Do nothing. These tests only claim jobs."""

    with (
        declare_handler(f"{name}.one", ignore, queue=name),
        declare_handler(f"{name}.batch", ignore, queue=name, batch=True),
    ):
        yield name


def _fill(org: Org, function: str, count: int) -> None:
    with org.transaction():
        jobs.enqueue_many(function, [(org.id, {"n": n}) for n in range(count)])


def _claim(
    app: Flask, queue: str, after: UUID = claims.NO_ORGANIZATION_KEY, *, quota: int = 10
) -> list[ClaimedJob]:
    with transaction_across_organizations(app):
        return claims.claim(
            queue, last_served_key=after, quota=quota, batch_functions=[f"{queue}.batch"]
        )


def _has_claimable_job(app: Flask, queue: str, *, quota: int) -> bool:
    with transaction_across_organizations(app):
        return claims.has_claimable_job(queue, quota=quota)


def test_organizations_take_turns(app: Flask, org: Org, queue: str) -> None:
    orgs = [org, make_org(app), make_org(app)]
    _fill(orgs[0], f"{queue}.one", MANY)
    for other in orgs[1:]:
        _fill(other, f"{queue}.one", 2)
    served: list[UUID] = []
    after = claims.NO_ORGANIZATION_KEY
    for _ in range(6):
        (job,) = _claim(app, queue, after)
        after = claims.get_fairness_key(job)
        served.append(after)
    assert sorted(served[:3]) == sorted(one.id for one in orgs)
    assert served[3:] == served[:3]


def _analyze_without_work(org: Org, postgres: EmbeddedPostgres) -> None:
    """Collect statistics in which there are a thousand jobs, none of them unfinished."""
    sql(
        org,
        "INSERT INTO jobs (id, organization_id, queue, function, args, status, due_at)"
        " SELECT gen_random_uuid(), :org, 'default', 'test', '{}', 'completed', NULL"
        " FROM generate_series(1, 1000)",
    )
    ((database,),) = sql(org, "SELECT current_database()")
    url = postgres.admin_url.removesuffix("/postgres") + f"/{database}"
    with closing(psycopg2.connect(url)) as connection, connection, connection.cursor() as cursor:
        cursor.execute("DELETE FROM jobs WHERE due_at IS NOT NULL")
        cursor.execute("ANALYZE jobs")


def test_a_claim_reads_no_more_rows_with_a_longer_backlog(
    app: Flask, org: Org, queue: str, postgres: EmbeddedPostgres
) -> None:
    _analyze_without_work(org, postgres)
    other = make_org(app)
    sql(
        org,
        "INSERT INTO jobs (id, organization_id, queue, function, args)"
        " SELECT gen_random_uuid(), :org, :queue, :function, '{}' FROM generate_series(1, :count)",
        queue=queue,
        function=f"{queue}.one",
        count=BACKLOG,
    )
    _fill(other, f"{queue}.one", 1)
    with explaining(app) as explained:
        for after in (claims.NO_ORGANIZATION_KEY, org.id, other.id):
            assert _claim(app, queue, after)
        assert _has_claimable_job(app, queue, quota=10)
    assert len(explained) >= 4
    expensive = [statement.rows_by_index for statement in explained if statement.rows >= 50]
    assert expensive == []


def test_jobs_of_no_organization_take_a_turn_too(app: Flask, org: Org, queue: str) -> None:
    _fill(org, f"{queue}.one", 3)
    with transaction_across_organizations(app):
        jobs.enqueue(f"{queue}.one", {}, organization_id=None)
    (first,) = _claim(app, queue)
    (second,) = _claim(app, queue, claims.get_fairness_key(first))
    (third,) = _claim(app, queue, claims.get_fairness_key(second))
    assert [job.organization_id for job in (first, second, third)] == [org.id, None, org.id]


def test_an_organizations_jobs_come_in_the_order_in_which_they_are_due(
    app: Flask, org: Org, queue: str
) -> None:
    _fill(org, f"{queue}.one", 4)
    sql(
        org,
        "UPDATE jobs SET due_at = now() - (args ->> 'n')::int * interval '1 minute'"
        " WHERE organization_id = :org",
    )
    found = [_claim(app, queue)[0].args["n"] for _ in range(4)]
    assert found == [3, 2, 1, 0]


def test_one_organization_never_holds_more_than_its_quota(
    app: Flask, org: Org, other_org: Org, queue: str
) -> None:
    _fill(org, f"{queue}.one", 5)
    for _ in range(2):
        assert _claim(app, queue, quota=2)
    assert _claim(app, queue, quota=2) == []
    assert not _has_claimable_job(app, queue, quota=2)
    _fill(other_org, f"{queue}.one", 1)
    assert _has_claimable_job(app, queue, quota=2)
    (job,) = _claim(app, queue, quota=2)
    assert job.organization_id == other_org.id


def test_a_batch_counts_as_one_run(app: Flask, org: Org, queue: str) -> None:
    _fill(org, f"{queue}.batch", MANY)
    assert len(_claim(app, queue, quota=2)) == claims.MAX_BATCH_SIZE
    assert len(_claim(app, queue, quota=2)) == claims.MAX_BATCH_SIZE
    assert _claim(app, queue, quota=2) == []


def test_a_batch_is_of_one_function(app: Flask, org: Org, queue: str) -> None:
    for function in (f"{queue}.batch", f"{queue}.one", f"{queue}.batch"):
        _fill(org, function, 2)
    sizes = [len(_claim(app, queue)) for _ in range(3)]
    assert sizes == [4, 1, 1]


def test_what_is_not_due_yet_is_passed_over(
    app: Flask, org: Org, other_org: Org, queue: str
) -> None:
    _fill(org, f"{queue}.one", 2)
    sql(org, "UPDATE jobs SET due_at = now() + interval '1 hour' WHERE organization_id = :org")
    assert not _has_claimable_job(app, queue, quota=10)
    _fill(other_org, f"{queue}.one", 1)
    (job,) = _claim(app, queue)
    assert job.organization_id == other_org.id
    assert _claim(app, queue) == []


@pytest.mark.parametrize(
    ("slots", "quota"), [(1, 1), (2, 1), (3, 2), (4, 3), (8, 6), (15, 12), (100, 75)]
)
def test_a_quarter_of_the_slots_stays_free_for_others(slots: int, quota: int) -> None:
    assert compute_quota(slots) == quota


def test_documents_have_a_slot_that_no_single_organization_can_take() -> None:
    for job_workers in (1, 2, 3):
        slots = count_local_slots(handlers.QUEUES["documents"], job_workers)
        assert compute_quota(slots) == job_workers


def test_text_recognition_grows_with_the_machine() -> None:
    ocr = handlers.QUEUES["ocr"]
    assert [count_local_slots(ocr, workers) for workers in (1, 2, 5, 16)] == [1, 1, 2, 8]


def test_the_last_turn_is_known_to_all_processes() -> None:
    key = UUID(int=7)
    worker.set_last_served_key("bulk", key)
    assert worker.get_last_served_key("bulk") == key
    assert worker.get_last_served_key("erasing") != key


def test_an_organization_whose_job_is_locked_is_passed_over(
    app: Flask, queue: str, org: Org, other_org: Org
) -> None:
    """A job is locked while its run stores a large file, and its lease may expire meanwhile."""
    for each in (org, other_org):
        _fill(each, f"{queue}.one", 1)
    first, second = sorted((org.id, other_org.id))
    with app.app_context(), db.engine().connect() as storing:
        storing.execute(text("SET LOCAL app.all_organizations = 'on'"))
        locked = storing.execute(
            text("SELECT FROM jobs WHERE queue = :queue AND organization_id = :id FOR UPDATE"),
            {"queue": queue, "id": first},
        )
        assert locked.rowcount == 1
        (claimed,) = _claim(app, queue)
        assert claimed.organization_id == second
        assert _claim(app, queue) == []
    (claimed,) = _claim(app, queue)
    assert claimed.organization_id == first
