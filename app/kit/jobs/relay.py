"""The relay, which enqueues periodic jobs and wakes workers for jobs that are due in PostgreSQL.

A message to workers only names a group of queues. The worker claims the jobs itself. Therefore a
group needs at most one pending message, a lost message is soon sent again, and a superfluous
message is harmless. For a due source, the relay claims the rows and sends them in the messages.
Several relays may run at the same time.
"""

import random
import time
from collections.abc import Callable, Iterable, Sequence
from threading import Event
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
from app.kit.jobs.queues import QUEUES, Queue, list_served_queues
from app.kit.logging import get_logger

log = get_logger(__name__)

DRAIN_FUNCTION = "app.kit.jobs.worker.drain"
"""The path of the function that each message calls with the name of a group."""
_PAUSE_SECONDS = 0.1
"""The pause in seconds between two rounds."""
MAX_MESSAGES_PER_SOURCE = 16
"""The maximum number of pending messages for a due source. With more messages, claims could expire
before a process handles them."""
_SCHEDULE_INTERVAL_SECONDS = 1.0
"""The minimum time in seconds between two checks for due periodic jobs."""


class Relay:
    """The main loop of the relay process.

    `connect` returns a Redis client. `start_processes` is called with the groups that have a
    waiting job, because their processes on this machine may not be running.
    """

    def __init__(
        self,
        app: Flask,
        connect: Callable[[], Redis],
        start_processes: Callable[[Iterable[str]], None] = lambda _groups: None,
    ) -> None:
        self.app = app
        self.connect = connect
        self.start_processes = start_processes
        self.stopping = Event()
        self._schedule_check_at = 0.0

    def run(self) -> None:
        """Run until `stopping` is set. During an outage of PostgreSQL or Redis, wait and retry."""
        pause = _PAUSE_SECONDS
        while not self.stopping.is_set():
            try:
                self.run_once()
                pause = _PAUSE_SECONDS
            except (SQLAlchemyError, RedisError) as failure:
                log.warning("relay.waiting", error=type(failure).__name__)
                # A random pause, so that several relays do not retry at the same time.
                pause = random.uniform(0.1, 1.0)  # noqa: S311 - no secret
            self.stopping.wait(pause)

    def run_once(self) -> int:
        """Run one round, and return how many messages were sent.

        A round enqueues due periodic jobs, and sends messages for due jobs and due sources. Raises
        RedisError if Redis is unavailable, before rows of a due source are claimed.
        """
        connection = self.connect()
        with (
            self.app.app_context(),
            tenancy.across_organizations(reason="the relay checks every organization's work"),
        ):
            if time.monotonic() >= self._schedule_check_at:
                self._schedule_check_at = time.monotonic() + _SCHEDULE_INTERVAL_SECONDS
                with db.transaction():
                    schedule.enqueue_due_jobs()
            sent_count = self._wake_workers(connection)
            sources = handlers.SOURCES if container.settings().outbound else []
            return sent_count + sum(self._send_due_rows(connection, source) for source in sources)

    def _wake_workers(self, connection: Redis) -> int:
        """Send a message to each group that has a claimable job and no pending message.

        Also starts the processes of groups with a due job. Returns the number of messages.
        """
        served_queues = list_served_queues(outbound=container.settings().outbound)
        with db.transaction():
            due_queues = claims.list_due_queues([queue.name for queue in served_queues])
        groups: dict[str, list[Queue]] = {}
        for name in due_queues:
            groups.setdefault(QUEUES[name].group.name, []).append(QUEUES[name])
        if groups:
            # Start processes even if no message is sent, because they increase the quotas.
            self.start_processes(groups)
        message_counts = self._count_messages(connection, list(groups))
        groups_to_wake = [
            name
            for name, queues in groups.items()
            if not message_counts[name] and self._has_claimable_job(queues)
        ]
        for name in groups_to_wake:
            self._send(connection, name, DRAIN_FUNCTION, [name])
        return len(groups_to_wake)

    def _has_claimable_job(self, queues: list[Queue]) -> bool:
        """Return whether any of these queues has a job that can be claimed."""
        for queue in queues:
            quota = slots.get_quota(queue, self.connect)
            with db.transaction():
                if claims.has_claimable_job(queue.name, quota=quota):
                    return True
        return False

    def _send_due_rows(self, connection: Redis, source: DueSource) -> int:
        if (
            self._count_messages(connection, [source.queue])[source.queue]
            >= MAX_MESSAGES_PER_SOURCE
        ):
            return 0
        with db.transaction():
            batches = source.claim()
        if batches:
            self._send(connection, source.queue, source.function, batches)
        return len(batches)

    def _count_messages(self, connection: Redis, queues: list[str]) -> dict[str, int]:
        """Return the number of pending messages in each RQ queue. A group has one such queue."""
        with connection.pipeline(transaction=False) as pipeline:
            pipeline.ping()
            for name in queues:
                pipeline.llen(RqQueue(name, connection=connection).key)
            _, *lengths = pipeline.execute()
        return dict(zip(queues, lengths, strict=True))

    def _send(
        self, connection: Redis, queue: str, function: str, arguments: Sequence[object]
    ) -> None:
        """Send one message to `queue` for each argument in `arguments`."""
        target = RqQueue(queue, connection=connection, serializer=JSONSerializer)
        target.enqueue_many(
            [
                RqQueue.prepare_data(
                    function,
                    (argument,),
                    timeout=-1,
                    result_ttl=0,
                    failure_ttl=60,
                    # By default, RQ would store all arguments in the description.
                    description=function,
                    job_id=str(uuid4()),
                )
                for argument in arguments
            ]
        )
