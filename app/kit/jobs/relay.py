"""The relay: starts periodic work, and wakes workers for what is due in PostgreSQL.

A message in Redis says that a group of queues has something to do, not what: the worker claims the
jobs itself when it starts them. So a group never has more than one message waiting, however many
jobs are due; a message that is lost is sent again a moment later; and one too many does nothing.
Several relays may run.
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
from rq import Queue as RqQueue
from rq.serializers import JSONSerializer
from sqlalchemy.exc import SQLAlchemyError

from app.kit import container, db, tenancy
from app.kit.jobs import claims, handlers, schedule, slots
from app.kit.jobs.handlers import DueSource
from app.kit.jobs.queues import QUEUES, Queue, list_served
from app.kit.logging import get_logger

log = get_logger(__name__)

DRAIN = "app.kit.jobs.worker.drain"
"""The function that messages call; their one argument is the group's name."""
IDLE_SECONDS = 0.1
SOURCE_MESSAGES = 16
"""So many messages of a due source may wait: what is claimed for more could expire unsent."""
_TICK_SECONDS = 1.0


class Relay:
    """Loops until stopped. `connect` returns a Redis client."""

    def __init__(self, app: Flask, connect: Callable[[], Redis]) -> None:
        self.app = app
        self.connect = connect
        self.stopping = Event()
        self._next_tick = 0.0

    def loop(self) -> None:
        """Go round for ever. An outage of either server is waited out."""
        pause = IDLE_SECONDS
        while not self.stopping.is_set():
            try:
                self.round()
                pause = IDLE_SECONDS
            except (SQLAlchemyError, RedisError) as failure:
                log.warning("relay.waiting", error=type(failure).__name__)
                # Full jitter, so that several relays do not come back in step.
                pause = random.uniform(0.1, 1.0)  # noqa: S311 - no secret
            self.stopping.wait(pause)

    def round(self) -> int:
        """Look once at the schedule, the queues and the due sources; return the messages sent.

        Raises RedisError before anything is claimed when there is nobody to send messages to.
        """
        connection = self.connect()
        with (
            self.app.app_context(),
            tenancy.across_organizations(reason="the relay looks at every organization's work"),
        ):
            if time.monotonic() >= self._next_tick:
                self._next_tick = time.monotonic() + _TICK_SECONDS
                with db.transaction():
                    schedule.tick()
            sent = self._wake_workers(connection)
            sources = handlers.SOURCES if container.settings().outbound else []
            return sent + sum(self._claim(connection, source) for source in sources)

    def _wake_workers(self, connection: Redis) -> int:
        """Send a message to each group that has a job to claim and no message waiting."""
        served = list_served(outbound=container.settings().outbound)
        with db.transaction():
            due = claims.list_due_queues([queue.name for queue in served])
        groups: dict[str, list[Queue]] = {}
        for name in due:
            groups.setdefault(QUEUES[name].group.name, []).append(QUEUES[name])
        lengths = self._lengths(connection, list(groups))
        awake = [name for name, queues in groups.items() if not lengths[name] and self._can(queues)]
        for name in awake:
            self._send(connection, name, DRAIN, [name])
        return len(awake)

    def _can(self, queues: list[Queue]) -> bool:
        """Return whether a job of one of these queues can be claimed."""
        for queue in queues:
            quota = slots.get_quota(queue, self.connect)
            with db.transaction():
                if claims.is_claimable(queue.name, quota=quota):
                    return True
        return False

    def _claim(self, connection: Redis, source: DueSource) -> int:
        if self._lengths(connection, [source.queue])[source.queue] >= SOURCE_MESSAGES:
            return 0
        with db.transaction():
            batches = source.claim()
        if batches:
            self._send(connection, source.queue, source.function, batches)
        return len(batches)

    def _lengths(self, connection: Redis, queues: list[str]) -> dict[str, int]:
        """Return how many messages wait in each of these queues."""
        with connection.pipeline(transaction=False) as pipeline:
            pipeline.ping()
            for name in queues:
                pipeline.llen(RqQueue(name, connection=connection).key)
            _, *lengths = pipeline.execute()
        return dict(zip(queues, lengths, strict=True))

    def _send(self, connection: Redis, queue: str, function: str, arguments: list[Any]) -> None:
        """Send one message per argument."""
        target = RqQueue(queue, connection=connection, serializer=JSONSerializer)
        target.enqueue_many(
            [
                RqQueue.prepare_data(
                    function,
                    (argument,),
                    timeout=-1,
                    result_ttl=0,
                    failure_ttl=60,
                    # Left out, it would be made of all the arguments.
                    description=function,
                    job_id=str(uuid4()),
                )
                for argument in arguments
            ]
        )
