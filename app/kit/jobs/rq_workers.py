"""Restricted RQ workers.

They run only the allowed functions, regardless of what is written to Redis, and accept no commands
from Redis. A job's process dies with its worker. During an outage, workers wait instead of ending.
"""

import os
import random
import signal
from collections.abc import Callable, Sequence
from contextlib import suppress
from threading import Event
from types import FrameType

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
_UNREGISTER_SECONDS = 1.0
_FLUSH_LOG_SECONDS = 0.1
_CALLBACKS = ("_success_callback_name", "_failure_callback_name", "_stopped_callback_name")


def is_permitted(job: Job, functions: frozenset[str]) -> bool:
    """Return whether a message calls one of `functions` and uses no other feature of RQ.

    This service never enqueues callbacks, instances, webhooks or repetitions, so a message with
    one of these features was not written by this service.
    """
    try:
        name: object = job.func_name
        is_plain = (
            isinstance(name, str) and name in functions and not job.instance and not job.kwargs
        )
    except DeserializationError:
        return False
    extras = [getattr(job, name, None) for name in _CALLBACKS]
    return is_plain and not any([*extras, getattr(job, "webhooks", None), job.repeats_left])


class _RestrictedWorker:
    """The common part of both workers. `build_worker` sets `app`, `functions` and `stopping`."""

    exponential_backoff_factor = 1.5
    log_result_lifespan = False
    app: Flask
    connection: Redis
    functions: frozenset[str]
    stopping: Event

    def subscribe(self) -> None:
        """Do nothing: RQ would accept commands such as killing a job from a Redis channel."""

    def unsubscribe(self) -> None:
        """Do nothing (see `subscribe`)."""

    def set_shutdown_requested_date(self) -> None:
        """Do nothing: RQ would write to Redis from its signal handler."""

    def register_death(self) -> None:
        """Unregister from Redis, with a short timeout in case Redis hangs."""
        pool = self.connection.connection_pool
        pool.disconnect()
        # An open connection would keep its longer timeout.
        pool.reset()
        pool.connection_kwargs["socket_timeout"] = _UNREGISTER_SECONDS
        super().register_death()  # type: ignore[misc]

    def handle_warm_shutdown_request(self) -> None:
        """Start no further job. RQ waits for the current one."""
        self.stopping.set()

    def _set_ip_address(self, _connection: Redis) -> None:
        """Set a constant: RQ would query all clients of Redis before it handles signals."""
        self.ip_address = "unknown"

    def bootstrap(self, *args: object, **kwargs: object) -> None:
        # RQ installs the signal handlers only later, and could not be stopped while Redis hangs.
        self._install_signal_handlers()
        super().bootstrap(*args, **kwargs)  # type: ignore[misc]

    def _install_signal_handlers(self) -> None:
        super()._install_signal_handlers()  # type: ignore[misc]
        if self.stopping.is_set():
            self._stop_requested = True

    def execute_job(self, job: Job, queue: Queue) -> None:
        if not is_permitted(job, self.functions):
            log.error("job.refused", queue=queue.name, message=job.id)
            job.connection.lrem(queue.intermediate_queue_key, 1, job.id)
            job.delete()
            return
        super().execute_job(job, queue)  # type: ignore[misc]

    def perform_job(self, job: Job, queue: Queue) -> bool:
        with self.app.app_context():
            done: bool = super().perform_job(job, queue)  # type: ignore[misc]
            return done


class InProcess(_RestrictedWorker, SimpleWorker):
    """A worker that runs jobs in its own process, for many small jobs."""


class Forking(_RestrictedWorker, Worker):
    """A worker that forks for each message, for jobs that need much memory or may crash."""

    def setup_work_horse_signals(self) -> None:
        """Let the fork die with its worker, and stop after its current job on SIGTERM."""
        super().setup_work_horse_signals()  # type: ignore[no-untyped-call]
        stop_on_signals(self.stopping)
        process_lifetime.die_with_parent(self.pid or 0)

    def handle_warm_shutdown_request(self) -> None:
        """Also stop the fork, which would otherwise start its next job."""
        super().handle_warm_shutdown_request()
        if self.horse_pid:
            with suppress(ProcessLookupError):
                os.kill(self.horse_pid, signal.SIGTERM)

    def perform_job(self, job: Job, queue: Queue) -> bool:
        """Run a message in the fork, and flush its metrics and log."""
        try:
            return super().perform_job(job, queue)
        finally:  # the fork ends with os._exit
            metrics.flush()
            logging.flush(_FLUSH_LOG_SECONDS)


def consume(
    worker_class: type[InProcess] | type[Forking],
    app: Flask,
    queues: Sequence[str],
    functions: frozenset[str],
    connect: Callable[[], Redis],
    stopping: Event,
) -> None:
    """Process messages of `queues` until `stopping` is set, for example by SIGTERM.

    Current jobs are finished first. RQ's loop ends when Redis times out, so it is restarted, after
    a random pause that spreads the reconnects of all processes.
    """
    while not stopping.is_set():
        try:
            worker = build_worker(worker_class, app, queues, functions, connect(), stopping)
            worker.work(logging_level="WARNING", dequeue_strategy=DequeueStrategy.ROUND_ROBIN)
        except StopRequested:
            stopping.set()
        except (RedisError, OSError) as failure:
            log.warning("worker.waiting", queues=list(queues), error=type(failure).__name__)
        finally:
            stop_on_signals(stopping)
        stopping.wait(random.uniform(0.1, 1.0))  # noqa: S311 - no secret


def stop_on_signals(stopping: Event) -> None:
    """Let SIGTERM and SIGINT set `stopping`. RQ replaces these handlers while its loop runs."""

    def stop(_number: int, _frame: FrameType | None) -> None:
        stopping.set()

    signal.signal(signal.SIGTERM, stop)
    signal.signal(signal.SIGINT, stop)


def build_worker(
    worker_class: type[InProcess] | type[Forking],
    app: Flask,
    queues: Sequence[str],
    functions: frozenset[str],
    connection: Redis,
    stopping: Event,
) -> InProcess | Forking:
    """Return a worker of `queues` that runs only `functions` and sets `stopping` on signals."""
    worker = worker_class(
        list(queues),
        connection=connection,
        serializer=JSONSerializer,
        worker_ttl=_WORKER_TTL_SECONDS,
        maintenance_interval=_MAINTENANCE_SECONDS,
        log_job_description=False,
    )
    worker.app, worker.functions, worker.stopping = app, functions, stopping
    # The pause between two attempts to connect to Redis; by default up to a minute.
    worker.max_connection_wait_time = random.uniform(1.0, 3.0)  # noqa: S311 - no secret
    return worker
