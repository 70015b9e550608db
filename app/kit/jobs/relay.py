"""The relay: claims what is due in PostgreSQL and hands its ids to RQ.

Several may run: `FOR UPDATE SKIP LOCKED` keeps them apart. A claim is a lease; if Redis loses the
message, or the worker that took it dies, the lease runs out and the row is claimed again.
"""

import random
import time
from collections.abc import Callable
from threading import Event
from typing import Any
from uuid import uuid4

from flask import Flask
from redis import Redis
from redis.exceptions import RedisError
from rq import Queue
from rq.serializers import JSONSerializer
from sqlalchemy import text
from sqlalchemy.exc import SQLAlchemyError

from app.kit import db, metrics, schedule, tenancy
from app.kit.jobs import handlers
from app.kit.logging import get_logger

log = get_logger(__name__)

RUN = "app.kit.jobs.worker.run"
QUEUED_LEASE_SECONDS = 30
IDLE_SECONDS = 0.1
BATCH = 100
IN_FLIGHT = {"default": 2000, "mail": 20, "documents": 8, "exports": 4}
"""How many jobs of a queue may be leased at once: of more, the leases would run out waiting."""

_CLAIM = text(
    """
    WITH room AS (
        SELECT :cap - count(*) AS free FROM jobs
        WHERE queue = :queue AND due_at IS NOT NULL AND leased_until > now()
    ), due AS (
        SELECT id, leased_until FROM jobs
        WHERE queue = :queue AND due_at <= now()
          AND (leased_until IS NULL OR leased_until <= now())
        ORDER BY due_at LIMIT (SELECT greatest(least(free, :batch), 0) FROM room)
        FOR UPDATE SKIP LOCKED
    )
    UPDATE jobs SET lease_token = gen_random_uuid(),
                    leased_until = now() + make_interval(secs => :lease)
    FROM due WHERE jobs.id = due.id
    RETURNING jobs.id, jobs.function, jobs.organization_id, jobs.lease_token,
              due.leased_until IS NOT NULL AS expired, jobs.attempts
    """
)


def claim(queue: str, batch: int = BATCH) -> list[list[list[str]]]:
    """Lease what is due on `queue`: groups of [id, token], each for one call of the worker.

    Commits. The caller sees all organizations.
    """
    values = {
        "queue": queue,
        "cap": IN_FLIGHT[queue],
        "batch": batch,
        "lease": QUEUED_LEASE_SECONDS,
    }
    with db.transaction() as session:
        rows = session.execute(_CLAIM, values).all()
    metrics.LEASE_EXPIRIES.labels(queue).inc(sum(row.expired for row in rows))
    groups: dict[tuple[str, str], list[list[str]]] = {}
    for row in rows:
        declared = handlers.HANDLERS.get(row.function)
        # What failed once comes alone: it must not take its batch down again.
        together = declared is not None and declared.batch and row.attempts == 0
        key = str(row.organization_id) if together else str(row.id)
        groups.setdefault((row.function, key), []).append([str(row.id), str(row.lease_token)])
    return list(groups.values())


class Relay:
    """Loops until stopped. `connect` makes a fresh Redis client."""

    def __init__(self, app: Flask, connect: Callable[[], Redis]) -> None:
        self.app = app
        self.connect = connect
        self.stopping = Event()
        self._next_tick = 0.0

    def stop(self, *_: Any) -> None:
        """Finish the round in hand, then return from `loop`."""
        self.stopping.set()

    def loop(self) -> None:
        """Claim and enqueue for ever. An outage of either server is waited out."""
        pause = IDLE_SECONDS
        while not self.stopping.is_set():
            try:
                moved = self.round()
                pause = 0.0 if moved else IDLE_SECONDS
            except (SQLAlchemyError, RedisError) as failure:
                log.warning("relay.waiting", error=type(failure).__name__)
                # Full jitter, so that several relays do not come back in step.
                pause = random.uniform(0.1, 1.0)  # noqa: S311 - no secret
            self.stopping.wait(pause)

    def round(self) -> int:
        """One pass over the schedule, the jobs and the due sources; how many rows were claimed.

        Raises RedisError before anything is claimed when there is nobody to hand it to.
        """
        self.connect().ping()
        with (
            self.app.app_context(),
            tenancy.across_organizations(reason="the relay claims every organization's work"),
        ):
            if time.monotonic() >= self._next_tick:
                self._next_tick = time.monotonic() + 1.0
                with db.transaction():
                    schedule.tick()
            moved = sum(self._jobs(queue) for queue in handlers.QUEUES)
            for source in handlers.SOURCES:
                with db.transaction():
                    batches = source.claim()
                self._enqueue(source.queue, source.function, batches)
                moved += sum(len(batch) for batch in batches)
        return moved

    def _jobs(self, queue: str) -> int:
        groups = claim(queue)
        self._enqueue(queue, RUN, groups)
        return sum(len(group) for group in groups)

    def _enqueue(self, queue: str, function: str, batches: list[list[Any]]) -> None:
        if not batches:
            return
        connection = self.connect()
        target = Queue(queue, connection=connection, serializer=JSONSerializer)
        target.enqueue_many(
            [
                Queue.prepare_data(
                    function,
                    (batch,),
                    timeout=-1,
                    result_ttl=0,
                    failure_ttl=60,
                    # Left out, it would be made of all the arguments.
                    description=function,
                    job_id=str(uuid4()),
                )
                for batch in batches
            ]
        )
