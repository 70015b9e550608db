"""Run due jobs inside a test with the real relay, queues and worker function."""

from functools import cache
from threading import Event
from typing import Any
from uuid import UUID

from flask import Flask
from redis import Redis
from rq import Queue
from rq.serializers import JSONSerializer
from sqlalchemy import text

from app.kit import container, db, tenancy
from app.kit.ids import uuid7
from app.kit.jobs import claims, handlers, runs
from app.kit.jobs.claims import ClaimedJob, Lease
from app.kit.jobs.handlers import Job
from app.kit.jobs.queues import GROUPS, QUEUES
from app.kit.jobs.relay import DRAIN, Relay
from app.kit.jobs.rq_workers import InProcessWorker, build_worker
from tests.factories.orgs import Org

_ROUNDS = 500
"""Enough for the jobs that other tests left: a round sends only four jobs of some queues."""
_SETTLE_SECONDS = 30.0
_RUN_SECONDS = 4 * 3600
POSTPONE_PERIODIC_JOBS = """
INSERT INTO schedule_runs (name, due_at)
SELECT name, to_timestamp((floor(extract(epoch FROM now()) / every) + period) * every)
FROM unnest(CAST(:names AS text[]), CAST(:every AS integer[])) AS entry (name, every),
    generate_series(0, CAST(:seconds AS integer) / every + 1) AS period
ON CONFLICT DO NOTHING
"""
"""Statement that records the runs of the next `seconds`, so that the schedule skips them."""
# Those to come stay: afterwards the jobs would be due again every minute.
_DELETE_CURRENT_RUNS = "DELETE FROM schedule_runs WHERE name = ANY(:names) AND due_at <= now()"
DISCARD_PENDING_WORK = (
    "DELETE FROM webhook_deliveries WHERE next_attempt_at IS NOT NULL",
    "DELETE FROM jobs WHERE due_at IS NOT NULL AND coalesce(unique_key, '') NOT LIKE 'periodic:%'",
)
"""Statements that delete pending deliveries and jobs, except periodic jobs."""


def run_jobs_of(org: Org, *queues: str) -> int:
    """Claim and run the due jobs of one organization without a relay, and return their number."""
    count = 0
    with org.app.app_context():
        for queue in queues or QUEUES:
            while jobs := claim_jobs_of(org, queue):
                runs.run(org.app, queue, jobs)
                count += len(jobs)
    return count


def claim_jobs_of(org: Org, queue: str) -> list[ClaimedJob]:
    """Claim the next job or batch of one organization."""
    batched = [declared.name for declared in handlers.HANDLERS.values() if declared.batch]
    before = UUID(int=org.id.int - 1)
    everything = tenancy.across_organizations(reason="a test is a worker")
    with org.app.app_context(), everything, db.transaction():
        jobs = claims.claim(queue, last_served_key=before, quota=100, batch_functions=batched)
        if any(job.organization_id != org.id for job in jobs):
            db.session().rollback()
            return []
    return jobs


def make_job(organization_id: UUID | None, args: dict[str, Any], **members: Any) -> Job:
    """Return a job as its handler receives it; it has no row."""
    job_id = members.pop("id", None) or uuid7()
    return Job(
        id=job_id,
        organization_id=organization_id,
        queue="default",
        args=args,
        attempt=1,
        lease=Lease(uuid7(), (job_id,)),
        request_id=None,
        created_at=db.utc_now(),
        **members,
    )


def make_due(app: Flask, *names: str) -> None:
    """Make periodic jobs due once, and delete the jobs of their last round."""
    everything = tenancy.across_organizations(reason="a test is the clock")
    values = {"names": list(names), "keys": [f"periodic:{name}" for name in names]}
    with app.app_context(), everything, db.transaction() as session:
        session.execute(text("DELETE FROM jobs WHERE unique_key = ANY(:keys)"), values)
        session.execute(text(_DELETE_CURRENT_RUNS), values)


def postpone_periodic_jobs(app: Flask, *, shortest: int = 60) -> None:
    """Make no periodic job due for hours, except those with a shorter period than `shortest`.

    In a long run of tests they would become due in the middle of one, which would then do the work
    of the organizations of all tests before it. `make_due` makes one due.
    """
    entries = [entry for entry in handlers.SCHEDULE.values() if entry.every >= shortest]
    values = {
        "names": [entry.name for entry in entries],
        "every": [entry.every for entry in entries],
        "seconds": _RUN_SECONDS,
    }
    everything = tenancy.across_organizations(reason="a test is the clock")
    with app.app_context(), everything, db.transaction() as session:
        session.execute(text(POSTPONE_PERIODIC_JOBS), values)


def drain(app: Flask) -> None:
    """Run the relay and the workers in turn until nothing is left to do, deliveries included."""
    connection = _connect(container.settings().redis_url)
    relay = Relay(app, lambda: connection)
    names = [*GROUPS, *(source.queue for source in handlers.SOURCES)]
    queues = [Queue(name, connection=connection, serializer=JSONSerializer) for name in names]
    functions = frozenset({DRAIN, *(source.function for source in handlers.SOURCES)})
    for _ in range(_ROUNDS):
        sent = relay.run_once()
        if not sent and not _count_messages(connection, queues):
            return
        worker = build_worker(InProcessWorker, app, names, functions, connection, Event())
        # RQ's upkeep of the queues is due every 30 s only; it took a fifth of the time.
        worker.last_cleaned_at = db.utc_now()
        worker.work(burst=True, logging_level="WARNING")
        assert all(source.settle(_SETTLE_SECONDS) for source in handlers.SOURCES)
    raise AssertionError("the jobs did not come to an end")


@cache
def _connect(_url: str) -> Redis:
    """Return the client for all tests of a process; each new one would connect again."""
    return container.current().redis(timeout=5)


def _count_messages(connection: Redis, queues: list[Queue]) -> int:
    with connection.pipeline(transaction=False) as pipeline:
        for queue in queues:
            pipeline.llen(queue.key)
        return sum(pipeline.execute())
