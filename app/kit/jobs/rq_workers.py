"""RQ's workers, held to what this project needs of them.

They run the functions they were given and no others, whatever somebody wrote into Redis; take no
commands over it; bind a job's process to the life of its worker; and wait out an outage instead of
ending.
"""

import os
import random
import signal
from collections.abc import Callable, Sequence
from contextlib import suppress
from threading import Event
from typing import Any

from flask import Flask
from redis import Redis
from redis.exceptions import RedisError
from rq import Queue, SimpleWorker, Worker
from rq.exceptions import DeserializationError, StopRequested
from rq.job import Job
from rq.serializers import JSONSerializer
from rq.worker import DequeueStrategy

from app.kit import logging, metrics, process_lifetime
from app.kit.logging import get_logger

log = get_logger(__name__)

_MAINTENANCE_SECONDS = 30
_WORKER_TTL_SECONDS = 45
_FAREWELL_SECONDS = 1.0
_LAST_LINES_SECONDS = 0.1
_CALLBACKS = ("_success_callback_name", "_failure_callback_name", "_stopped_callback_name")


def permitted(job: Job, functions: frozenset[str]) -> bool:
    """Whether a message asks for one of `functions` and for nothing beside it.

    A message can also name callbacks, an object to call, addresses to tell and a repetition: none
    of that is ever enqueued here, so whoever wrote it was not this service.
    """
    try:
        name: Any = job.func_name
        plain = isinstance(name, str) and name in functions and not job.instance and not job.kwargs
    except DeserializationError:
        return False
    extras = [getattr(job, name, None) for name in _CALLBACKS]
    return plain and not any([*extras, getattr(job, "webhooks", None), job.repeats_left])


class _Held:
    """What both kinds of worker have in common; `make` sets `app`, `functions`, `stopping`."""

    exponential_backoff_factor = 1.5
    log_result_lifespan = False
    app: Flask
    connection: Redis
    functions: frozenset[str]
    stopping: Event

    def subscribe(self) -> None:
        """RQ would take commands from a channel here: to shut down, to kill a job."""

    def unsubscribe(self) -> None:
        """See `subscribe`."""

    def set_shutdown_requested_date(self) -> None:
        """RQ would write to Redis from its signal handler, in the middle of whatever runs."""

    def register_death(self) -> None:
        """Say good-bye to Redis, but not for as long as one that hangs would have it."""
        pool = self.connection.connection_pool
        pool.disconnect()
        # A connection keeps the timeout that it was made with.
        pool.reset()
        pool.connection_kwargs["socket_timeout"] = _FAREWELL_SECONDS
        super().register_death()  # type: ignore[misc]

    def handle_warm_shutdown_request(self) -> None:
        """Start no further job; RQ waits for the one in hand."""
        self.stopping.set()

    def _set_ip_address(self, _connection: Redis) -> None:
        """RQ would ask Redis for all its clients, before it can be told to stop."""
        self.ip_address = "unknown"

    def bootstrap(self, *args: Any, **kwargs: Any) -> None:
        # RQ does this only afterwards, and a Redis that hangs would keep it from being stopped.
        self._install_signal_handlers()
        super().bootstrap(*args, **kwargs)  # type: ignore[misc]

    def _install_signal_handlers(self) -> None:
        super()._install_signal_handlers()  # type: ignore[misc]
        if self.stopping.is_set():
            self._stop_requested = True

    def execute_job(self, job: Job, queue: Queue) -> None:
        if not permitted(job, self.functions):
            log.error("job.refused", queue=queue.name, message=job.id)
            job.connection.lrem(queue.intermediate_queue_key, 1, job.id)
            job.delete()
            return
        super().execute_job(job, queue)  # type: ignore[misc]

    def perform_job(self, job: Job, queue: Queue) -> bool:
        with self.app.app_context():
            done: bool = super().perform_job(job, queue)  # type: ignore[misc]
            return done


class InProcess(_Held, SimpleWorker):
    """Runs jobs in its own process: for many small ones."""


class Forking(_Held, Worker):
    """Forks for each job: for jobs that take memory, or may take their process down."""

    def setup_work_horse_signals(self) -> None:
        """Bind the fork to the life of its worker; SIGTERM ends it after the job in hand."""
        super().setup_work_horse_signals()  # type: ignore[no-untyped-call]
        listen(self.stopping)
        process_lifetime.die_with_parent(self.pid or 0)

    def handle_warm_shutdown_request(self) -> None:
        """Tell the fork too, which would go on with the next job."""
        super().handle_warm_shutdown_request()
        if self.horse_pid:
            with suppress(ProcessLookupError):
                os.kill(self.horse_pid, signal.SIGTERM)

    def perform_job(self, job: Job, queue: Queue) -> bool:
        """Run a message in the fork, and send what the fork counted and logged."""
        try:
            return super().perform_job(job, queue)
        finally:  # the process ends with os._exit
            metrics.flush()
            logging.flush(_LAST_LINES_SECONDS)


def consume(
    kind: type[InProcess] | type[Forking],
    app: Flask,
    queues: Sequence[str],
    functions: frozenset[str],
    connect: Callable[[], Redis],
    stopping: Event,
) -> None:
    """Work on `queues` until `stopping` is set, by a SIGTERM among others.

    Jobs in hand are ended first. RQ's loop ends on a timeout of Redis and does not start without
    it, so it is started again, after a pause that no two processes have in common.
    """
    while not stopping.is_set():
        try:
            worker = make(kind, app, queues, functions, connect(), stopping)
            worker.work(logging_level="WARNING", dequeue_strategy=DequeueStrategy.ROUND_ROBIN)
        except StopRequested:
            stopping.set()
        except (RedisError, OSError) as failure:
            log.warning("worker.waiting", queues=list(queues), error=type(failure).__name__)
        finally:
            listen(stopping)
        stopping.wait(random.uniform(0.1, 1.0))  # noqa: S311 - no secret


def listen(stopping: Event) -> None:
    """Let SIGTERM and SIGINT set `stopping`; RQ puts its own handlers in place while it works."""

    def stop(_number: int, _frame: Any) -> None:
        stopping.set()

    signal.signal(signal.SIGTERM, stop)
    signal.signal(signal.SIGINT, stop)


def make(
    kind: type[InProcess] | type[Forking],
    app: Flask,
    queues: Sequence[str],
    functions: frozenset[str],
    connection: Redis,
    stopping: Event,
) -> InProcess | Forking:
    """A worker on `queues` that runs `functions` only, and sets `stopping` when told to end."""
    worker = kind(
        list(queues),
        connection=connection,
        serializer=JSONSerializer,
        worker_ttl=_WORKER_TTL_SECONDS,
        maintenance_interval=_MAINTENANCE_SECONDS,
        log_job_description=False,
    )
    worker.app, worker.functions, worker.stopping = app, functions, stopping
    # RQ sleeps so long between two tries to reach Redis; up to a minute if it is left to itself.
    worker.max_connection_wait_time = random.uniform(1.0, 3.0)  # noqa: S311 - no secret
    return worker
