"""The background processes: a parent that loads the application, and the children that it forks.

The parent never connects to the database or Redis, so that no child inherits a connection. Its
memory is frozen before the first fork, so that the children share it. When the parent dies, its
children are killed immediately. A child that exits is restarted, with increasing delays.
"""

import gc
import os
import signal
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from threading import Event, Thread
from typing import NoReturn

from flask import Flask

from app.kit import container, db, logging, metrics, process_lifetime
from app.kit.child_processes import Backoff, ForkedChild, RestartState, stop_in_parallel
from app.kit.jobs import handlers, relay, runs
from app.kit.jobs import worker as _worker  # noqa: F401 - loaded before the fork, for all children
from app.kit.jobs.queues import GROUPS, QueueGroup, count_local_slots, list_queues
from app.kit.jobs.relay import Relay
from app.kit.jobs.rq_workers import ForkingWorker, InProcessWorker, consume, stop_on_signals
from app.kit.logging import get_logger

log = get_logger(__name__)

STOP_SECONDS = 9.0
"""The timeout in seconds for children to finish their current jobs."""
SOURCE_STOP_SECONDS = 7.5
_BACKOFF = Backoff(first=0.2, longest=10.0, healthy=30.0)
_RELAY_TIMEOUT_SECONDS = 2.0
_WATCHED_SIGNALS = {signal.SIGCHLD, signal.SIGTERM, signal.SIGINT}

Target = Callable[[Flask, Event], None]


@dataclass
class Child:
    """A background process that the parent restarts whenever it exits.

    `target(app, stopping)` runs in the process, and returns once `stopping` is set.
    """

    name: str
    target: Target
    process: ForkedChild | None = None
    restarts: RestartState = field(default_factory=RestartState)


def list_children(job_workers: int, *, outbound: bool = True) -> list[Child]:
    """Return the background processes to start.

    `job_workers` determines the number of processes that parse documents. If `outbound` is false,
    jobs that call other hosts stay queued.
    """
    children = [Child("relay", _run_relay)]
    for group in GROUPS.values():
        target = partial(_run_worker, group=group)
        if group.forking:
            (queue,) = list_queues(group)
            numbers = range(1, count_local_slots(queue, job_workers) + 1)
            children += [Child(f"{group.name}-{number}", target) for number in numbers]
        elif outbound or not group.outbound:
            children.append(Child(group.name, target))
    sources = handlers.SOURCES if outbound else []
    return children + [
        Child(source.name, partial(_run_source, source=source)) for source in sources
    ]


def _run_relay(app: Flask, stopping: Event) -> None:
    client = container.current().redis(timeout=_RELAY_TIMEOUT_SECONDS)
    relay_loop = Relay(app, lambda: client)
    relay_loop.stopping = stopping
    stop_on_signals(stopping)
    relay_loop.run()


def _run_worker(app: Flask, stopping: Event, *, group: QueueGroup) -> None:
    os.nice(group.nice)
    worker_class = ForkingWorker if group.forking else InProcessWorker
    connect = partial(container.current().redis, timeout=None)
    stop_on_signals(stopping)
    consume(worker_class, app, [group.name], frozenset({relay.DRAIN}), connect, stopping)


def _run_source(app: Flask, stopping: Event, *, source: handlers.DueSource) -> None:
    """Handle the messages of a due source.

    A separate thread stops the source, so that it stops even if RQ is waiting for Redis.
    """

    def stop() -> None:
        stopping.wait()
        source.stop(SOURCE_STOP_SECONDS)

    stop_on_signals(stopping)
    source.start(app)
    stop_thread = Thread(target=stop, name=f"{source.name}-stop")
    stop_thread.start()
    connect = partial(container.current().redis, timeout=None)
    consume(InProcessWorker, app, [source.queue], frozenset({source.function}), connect, stopping)
    stop_thread.join()


def main(app: Flask) -> int:
    """Run all children until SIGTERM or SIGINT, and return the exit status.

    Call it in the main thread.
    """
    signal.pthread_sigmask(signal.SIG_BLOCK, _WATCHED_SIGNALS)
    settings = container.settings()
    children = list_children(settings.job_workers, outbound=settings.outbound)
    gc.collect()
    gc.freeze()
    log.info("workers.started", children=[child.name for child in children])
    for child in children:
        _start_child(app, child)
    stop = False
    while not stop:
        for child in children:
            if child.restarts.is_due:
                _start_child(app, child)
        received_signal = signal.sigtimedwait(_WATCHED_SIGNALS, _get_seconds_to_restart(children))
        stop = received_signal is not None and received_signal.si_signo != signal.SIGCHLD
        _record_exits(children)
    stops = ((signal.SIGTERM, STOP_SECONDS),)
    stop_in_parallel([(child.process, stops) for child in children if child.process is not None])
    log.info("workers.stopped")
    return 0


def _get_seconds_to_restart(children: list[Child]) -> float:
    due_times = [at for child in children if (at := child.restarts.due_at) is not None]
    return max(0.0, min(due_times) - time.monotonic()) if due_times else 60.0


def _start_child(app: Flask, child: Child) -> None:
    parent = os.getpid()
    sys.stdout.flush()
    child.restarts.record_start()
    pid = os.fork()
    if pid == 0:
        _run_child(app, child, parent)
    child.process = ForkedChild(pid)


def _run_child(app: Flask, child: Child, parent: int) -> NoReturn:
    """Run the child's target in the forked process, and exit the process."""
    status = 1
    try:
        process_lifetime.die_with_parent(parent)
        # Workers check this event between two jobs.
        stopping = runs.stopping
        stop_on_signals(stopping)
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        signal.pthread_sigmask(signal.SIG_SETMASK, set())
        with app.app_context():
            db.dispose()
        child.target(app, stopping)
        status = 0
    except BaseException:  # the parent restarts it after any failure
        log.exception("worker.died", name=child.name)
    finally:
        sys.stdout.flush()
        metrics.flush()
        logging.flush()
        os._exit(status)


def _record_exits(children: list[Child]) -> None:
    """Record which children have exited, and when to restart them."""
    for child in children:
        if child.process is None or (status := child.process.poll()) is None:
            continue
        child.process = None
        delay = child.restarts.record_exit(_BACKOFF)
        log.warning("workers.child_ended", name=child.name, status=status, restart_in=delay)
