"""Restricted RQ workers.

They run only the allowed functions, regardless of what is written to Redis, and accept no commands
from Redis. The process that runs a job is killed if its worker exits. During an outage, workers
wait instead of exiting.
"""

import os
import random
import signal
from collections.abc import Callable, Sequence
from contextlib import ExitStack, suppress
from threading import Event
from types import FrameType

from flask import Flask
from redis import Redis
from redis.client import Pipeline
from redis.exceptions import RedisError
from rq import Queue, SimpleWorker, Worker
from rq.exceptions import DeserializationError, StopRequested
from rq.job import Job
from rq.serializers import JSONSerializer
from rq.worker import DequeueStrategy

from app.kit import db, logging, metrics, process_lifetime, temporary_folders
from app.kit.logging import get_logger

log = get_logger(__name__)

_MAINTENANCE_SECONDS = 30
_WORKER_TTL_SECONDS = 45
_QUIET_SECONDS = 3
"""The time in seconds without a message after which a worker closes its database connections."""
_UNREGISTER_SECONDS = 1.0
"""The timeout of the Redis commands with which a worker unregisters when it stops."""
_FLUSH_LOG_SECONDS = 0.1
_CALLBACK_NAMES = ("_success_callback_name", "_failure_callback_name", "_stopped_callback_name")


def is_permitted(job: Job, functions: frozenset[str]) -> bool:
    """Return whether a message (an RQ job) calls one of `functions` and uses no other RQ feature.

    This service never uses callbacks, instances, webhooks or repetitions. Therefore, a message with
    one of these features was not written by this service.
    """
    try:
        name: object = job.func_name
        is_plain = (
            isinstance(name, str) and name in functions and not job.instance and not job.kwargs
        )
    except DeserializationError:
        return False
    callback_names = [getattr(job, name, None) for name in _CALLBACK_NAMES]
    return is_plain and not any([*callback_names, getattr(job, "webhooks", None), job.repeats_left])


class _RestrictedWorker:
    """Base class of InProcessWorker and ForkingWorker. `build_worker` sets the attributes.

    `was_idle` is true once no message has arrived for the maximum idle time.
    """

    exponential_backoff_factor = 1.5
    log_result_lifespan = False
    app: Flask
    connection: Redis
    functions: frozenset[str]
    stopping: Event
    was_idle = False

    def subscribe(self) -> None:
        """Do nothing: RQ would accept commands from a Redis channel, such as killing a job."""

    def unsubscribe(self) -> None:
        """Do nothing (see `subscribe`)."""

    def set_shutdown_requested_date(self) -> None:
        """Do nothing: RQ would write to Redis from its signal handler."""

    def register_death(self) -> None:
        """Unregister from Redis, with a short timeout in case Redis hangs."""
        pool = self.connection.connection_pool
        pool.disconnect()
        # A connection that stays open would keep its longer timeout.
        pool.reset()
        pool.connection_kwargs["socket_timeout"] = _UNREGISTER_SECONDS
        super().register_death()  # type: ignore[misc]

    def handle_warm_shutdown_request(self) -> None:
        """Set `stopping`, so that no more jobs start. RQ waits for the current job."""
        self.stopping.set()

    def _set_ip_address(self, _connection: Redis) -> None:
        """Set a constant address: RQ would query all Redis clients before it handles signals."""
        self.ip_address = "unknown"

    def bootstrap(self, *args: object, **kwargs: object) -> None:
        # RQ installs the signal handlers only later, and could not be stopped while Redis hangs.
        self._install_signal_handlers()
        super().bootstrap(*args, **kwargs)  # type: ignore[misc]

    def _install_signal_handlers(self) -> None:
        super()._install_signal_handlers()  # type: ignore[misc]
        if self.stopping.is_set():
            self._stop_requested = True

    def dequeue_job_and_maintain_ttl(
        self, timeout: int | None, max_idle_time: int | None = None
    ) -> tuple[Job, Queue] | None:
        """Wait for a message. Return None if none arrives in `max_idle_time` seconds."""
        message: tuple[Job, Queue] | None = super().dequeue_job_and_maintain_ttl(  # type: ignore[misc]
            timeout, max_idle_time
        )
        self.was_idle = message is None
        return message

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


class InProcessWorker(_RestrictedWorker, SimpleWorker):
    """A worker that runs jobs in the worker process. Use it for many small jobs."""

    def dequeue_job_and_maintain_ttl(
        self, timeout: int | None, max_idle_time: int | None = None
    ) -> tuple[Job, Queue] | None:
        """Wait for a message. Return None if none arrives in `max_idle_time` seconds.

        After `_QUIET_SECONDS` without a message, close the connections to PostgreSQL, which needs
        10 MB for each idle connection.
        """
        if max_idle_time is not None and max_idle_time <= _QUIET_SECONDS:
            return super().dequeue_job_and_maintain_ttl(timeout, max_idle_time)
        if message := super().dequeue_job_and_maintain_ttl(timeout, _QUIET_SECONDS):
            return message
        with self.app.app_context():
            db.close_unused_connections()
        remaining_time = None if max_idle_time is None else max_idle_time - _QUIET_SECONDS
        return super().dequeue_job_and_maintain_ttl(timeout, remaining_time)


class ForkingWorker(_RestrictedWorker, Worker):
    """A worker that forks for each message. Use it for jobs that need much memory or may crash."""

    def setup_work_horse_signals(self) -> None:
        """Make the fork exit when its worker dies, and stop after its current job on SIGTERM."""
        super().setup_work_horse_signals()  # type: ignore[no-untyped-call]
        stop_on_signals(self.stopping)
        process_lifetime.die_with_parent(self.pid or 0)

    def handle_warm_shutdown_request(self) -> None:
        """Stop the fork as well, because it would otherwise start its next job."""
        super().handle_warm_shutdown_request()
        if self.horse_pid:
            with suppress(ProcessLookupError):
                os.kill(self.horse_pid, signal.SIGTERM)

    def set_current_job_working_time(
        self, current_job_working_time: float, pipeline: Pipeline | None = None
    ) -> None:
        """Record the duration of the current message, unless Redis is unavailable.

        Otherwise, an error of Redis would make RQ stop waiting for the fork, and start a second
        fork while the first fork is running.
        """
        with suppress(RedisError):
            super().set_current_job_working_time(current_job_working_time, pipeline)

    def maintain_heartbeats(self, job: Job) -> None:
        """Send the heartbeats of the worker and its message, unless Redis is unavailable."""
        with suppress(RedisError):
            super().maintain_heartbeats(job)

    def perform_job(self, job: Job, queue: Queue) -> bool:
        """Run a message in the fork, and flush its metrics and log.

        The temporary files of a fork that is killed are deleted later.
        """
        try:
            with ExitStack() as stack:
                # If the disk is full, the job fails only if it needs a temporary file.
                with suppress(OSError):
                    stack.enter_context(temporary_folders.isolate_temporary_files())
                return super().perform_job(job, queue)
        finally:  # the fork exits with os._exit, which flushes nothing
            metrics.flush()
            logging.flush(_FLUSH_LOG_SECONDS)


def consume(
    worker_class: type[InProcessWorker] | type[ForkingWorker],
    app: Flask,
    queues: Sequence[str],
    functions: frozenset[str],
    connect: Callable[[], Redis],
    stopping: Event,
    max_idle_seconds: int | None = None,
) -> None:
    """Process messages from `queues` until `stopping` is set, for example by SIGTERM.

    If `max_idle_seconds` is set, also return after this time without a message. Current jobs are
    finished first. RQ's loop ends when Redis times out. It is restarted after a random pause, so
    that the processes do not all reconnect at the same time.
    """
    while not stopping.is_set():
        try:
            worker = build_worker(worker_class, app, queues, functions, connect(), stopping)
            worker.work(
                logging_level="WARNING",
                dequeue_strategy=DequeueStrategy.ROUND_ROBIN,
                max_idle_time=max_idle_seconds,
            )
            if worker.was_idle:
                return
        except StopRequested:
            stopping.set()
        except (RedisError, OSError) as failure:
            log.warning("worker.waiting", queues=list(queues), error=type(failure).__name__)
        finally:
            stop_on_signals(stopping)
        stopping.wait(random.uniform(0.1, 1.0))  # noqa: S311 - no secret


def stop_on_signals(stopping: Event) -> None:
    """Make SIGTERM and SIGINT set `stopping`. RQ replaces these handlers while its loop runs."""

    def stop(_number: int, _frame: FrameType | None) -> None:
        stopping.set()

    signal.signal(signal.SIGTERM, stop)
    signal.signal(signal.SIGINT, stop)


def build_worker(
    worker_class: type[InProcessWorker] | type[ForkingWorker],
    app: Flask,
    queues: Sequence[str],
    functions: frozenset[str],
    connection: Redis,
    stopping: Event,
) -> InProcessWorker | ForkingWorker:
    """Return a worker for `queues` that runs only `functions` and sets `stopping` on signals."""
    worker = worker_class(
        list(queues),
        connection=connection,
        serializer=JSONSerializer,
        worker_ttl=_WORKER_TTL_SECONDS,
        maintenance_interval=_MAINTENANCE_SECONDS,
        log_job_description=False,
    )
    worker.app, worker.functions, worker.stopping = app, functions, stopping
    # The pause in seconds between two attempts to connect to Redis. RQ's default is up to a minute.
    worker.max_connection_wait_time = random.uniform(1.0, 3.0)  # noqa: S311 - no secret
    return worker
