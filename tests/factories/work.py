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

from app.kit import container, db
from app.kit.ids import uuid7
from app.kit.jobs import claims, handlers, runs
from app.kit.jobs.claims import ClaimedJob
from app.kit.jobs.handlers import Job
from app.kit.jobs.queues import GROUPS, QUEUES
from app.kit.jobs.relay import DRAIN_FUNCTION, Relay
from app.kit.jobs.rq_workers import InProcessWorker, build_worker
from app.kit.leases import Lease
from tests.factories.orgs import Org, transaction_across_organizations

_ROUNDS = 500
"""The maximum number of rounds in `drain`.

A round sends only four jobs of some queues, and earlier tests may have left many jobs.
"""
_SETTLE_SECONDS = 30.0
_RUN_SECONDS = 4 * 3600
POSTPONE_PERIODIC_JOBS = """
INSERT INTO schedule_runs (name, due_at)
SELECT name, to_timestamp((floor(extract(epoch FROM now()) / every) + period) * every)
FROM unnest(CAST(:names AS text[]), CAST(:every AS integer[])) AS entry (name, every),
    generate_series(0, CAST(:seconds AS integer) / every + 1) AS period
ON CONFLICT DO NOTHING
"""
"""A statement that records the runs in the next `seconds`, so that the schedule skips them."""
# Records of future runs stay, so that the jobs become due only once.
_DELETE_CURRENT_RUNS = "DELETE FROM schedule_runs WHERE name = ANY(:names) AND due_at <= now()"
DISCARD_PENDING_WORK = (
    "DELETE FROM webhook_deliveries WHERE next_attempt_at IS NOT NULL",
    "DELETE FROM jobs WHERE due_at IS NOT NULL AND coalesce(unique_key, '') NOT LIKE 'periodic:%'",
)
"""Statements that delete pending webhook deliveries, and pending jobs that are not periodic."""


def run_jobs_of(org: Org, *queues: str) -> int:
    """Claim and run the due jobs of one organization without a relay; return how many ran.

    By default, this covers all queues.
    """
    count = 0
    with org.app.app_context():
        for queue in queues or QUEUES:
            while jobs := claim_jobs_of(org, queue):
                runs.run(org.app, queue, jobs)
                count += len(jobs)
    return count


def claim_jobs_of(org: Org, queue: str) -> list[ClaimedJob]:
    """Claim the next job or batch of one organization; return an empty list if none is due."""
    batched = [handler.name for handler in handlers.HANDLERS.values() if handler.batch]
    previous_key = UUID(int=org.id.int - 1)
    with transaction_across_organizations(org.app):
        jobs = claims.claim(queue, last_served_key=previous_key, quota=100, batch_functions=batched)
        if any(job.organization_id != org.id for job in jobs):
            db.session().rollback()
            return []
    return jobs


def make_job(organization_id: UUID | None, args: dict[str, Any], **attributes: Any) -> Job:
    """Return a job as its handler receives it, without a row in `jobs`."""
    job_id = attributes.pop("id", None) or uuid7()
    return Job(
        id=job_id,
        organization_id=organization_id,
        queue="default",
        args=args,
        attempt=1,
        lease=Lease(uuid7(), (job_id,)),
        request_id=None,
        created_at=db.utc_now(),
        **attributes,
    )


def make_due(app: Flask, *names: str) -> None:
    """Make periodic jobs due once, and delete the jobs of their previous runs."""
    values = {"names": list(names), "keys": [f"periodic:{name}" for name in names]}
    with transaction_across_organizations(app) as session:
        session.execute(text("DELETE FROM jobs WHERE unique_key = ANY(:keys)"), values)
        session.execute(text(_DELETE_CURRENT_RUNS), values)


def postpone_periodic_jobs(app: Flask, *, shortest: int = 60) -> None:
    """Postpone for hours the periodic jobs that run every `shortest` seconds or less often.

    Otherwise a job could become due during a test, which would then process the organizations of
    all earlier tests. A test that needs such a job calls `make_due`.
    """
    schedule = {name: every for name, every in handlers.SCHEDULE.items() if every >= shortest}
    values = {
        "names": list(schedule),
        "every": list(schedule.values()),
        "seconds": _RUN_SECONDS,
    }
    with transaction_across_organizations(app) as session:
        session.execute(text(POSTPONE_PERIODIC_JOBS), values)


def drain(app: Flask) -> None:
    """Run the relay and the workers in turn until no job and no webhook delivery is due."""
    connection = _connect(container.settings().redis_url)
    relay = Relay(app, lambda: connection)
    names = [*GROUPS, *(source.queue for source in handlers.SOURCES)]
    queues = [Queue(name, connection=connection, serializer=JSONSerializer) for name in names]
    functions = frozenset({DRAIN_FUNCTION, *(source.function for source in handlers.SOURCES)})
    for _ in range(_ROUNDS):
        sent = relay.run_once()
        if not sent and not _count_messages(connection, queues):
            return
        worker = build_worker(InProcessWorker, app, names, functions, connection, Event())
        # Skip RQ's maintenance of the queues, which would run for each new worker and take a fifth
        # of the time.
        worker.last_cleaned_at = db.utc_now()
        # With a maximum idle time, the worker keeps its connections to PostgreSQL. New
        # connections take half of the time of a round with one job.
        worker.work(burst=True, max_idle_time=1, logging_level="WARNING")
        assert all(source.wait_until_handled(_SETTLE_SECONDS) for source in handlers.SOURCES)
    raise AssertionError(f"jobs are still due after {_ROUNDS} rounds")


@cache
def _connect(_url: str) -> Redis:
    """Return the Redis client of this process. Tests share it, so that they need not reconnect."""
    return container.current().redis(timeout=5)


def _count_messages(connection: Redis, queues: list[Queue]) -> int:
    with connection.pipeline(transaction=False) as pipeline:
        for queue in queues:
            pipeline.llen(queue.key)
        return sum(pipeline.execute())
