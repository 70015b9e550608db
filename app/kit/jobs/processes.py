"""The background processes: a parent that loads the application once, and the children it forks.

The parent touches neither database nor Redis, so that a child inherits no connection. Its memory is
frozen before the first fork and shared by all. A child dies with the parent, at once; one that dies
alone is started again, ever later if it keeps dying.
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
from app.kit.child_processes import Backoff, ForkedChild, Restarts, stop_together
from app.kit.jobs import handlers, relay, worker
from app.kit.jobs.queues import GROUPS, Group, list_queues, local_slots
from app.kit.jobs.relay import Relay
from app.kit.jobs.rq_workers import Forking, InProcess, consume, listen
from app.kit.logging import get_logger

log = get_logger(__name__)

STOP_SECONDS = 9.0
"""How long the children get to end what they have in hand."""
SOURCE_STOP_SECONDS = 7.5
_BACKOFF = Backoff(first=0.2, longest=10.0, healthy=30.0)
_RELAY_TIMEOUT_SECONDS = 2.0
_WATCHED = {signal.SIGCHLD, signal.SIGTERM, signal.SIGINT}

Target = Callable[[Flask, Event], None]


@dataclass
class Child:
    """A process to keep running. `target(app, stopping)` returns once `stopping` is set."""

    name: str
    target: Target
    process: ForkedChild | None = None
    restarts: Restarts = field(default_factory=Restarts)


def children(job_workers: int, *, outbound: bool = True) -> list[Child]:
    """Return every process of the service's background work.

    `job_workers` parse documents. Without `outbound` none calls other hosts: what waits for that
    stays queued.
    """
    found = [Child("relay", _relay)]
    for group in GROUPS.values():
        target = partial(_work, group=group)
        if group.forking:
            (queue,) = list_queues(group)
            numbers = range(1, local_slots(queue, job_workers) + 1)
            found += [Child(f"{group.name}-{number}", target) for number in numbers]
        elif outbound or not group.outbound:
            found.append(Child(group.name, target))
    sources = handlers.SOURCES if outbound else []
    return found + [Child(source.name, partial(_serve, source=source)) for source in sources]


def _relay(app: Flask, stopping: Event) -> None:
    client = container.current().redis(timeout=_RELAY_TIMEOUT_SECONDS)
    loop = Relay(app, lambda: client)
    loop.stopping = stopping
    listen(stopping)
    loop.loop()


def _work(app: Flask, stopping: Event, *, group: Group) -> None:
    os.nice(group.nice)
    kind = Forking if group.forking else InProcess
    connect = partial(container.current().redis, timeout=None)
    listen(stopping)
    consume(kind, app, [group.name], frozenset({relay.DRAIN}), connect, stopping)


def _serve(app: Flask, stopping: Event, *, source: handlers.DueSource) -> None:
    """Take a source's messages. It is stopped beside RQ, which a hung Redis may hold up."""

    def stop() -> None:
        stopping.wait()
        source.stop(SOURCE_STOP_SECONDS)

    listen(stopping)
    source.start(app)
    ending = Thread(target=stop, name=f"{source.name}-stop")
    ending.start()
    connect = partial(container.current().redis, timeout=None)
    consume(InProcess, app, [source.queue], frozenset({source.function}), connect, stopping)
    ending.join()


def main(app: Flask) -> int:
    """Run every child until SIGTERM or SIGINT; the exit status. Called in the main thread."""
    signal.pthread_sigmask(signal.SIG_BLOCK, _WATCHED)
    settings = container.settings()
    running = children(settings.job_workers, outbound=settings.outbound)
    gc.collect()
    gc.freeze()
    log.info("workers.started", children=[child.name for child in running])
    for child in running:
        _start(app, child)
    stop = False
    while not stop:
        for child in running:
            if child.restarts.is_due:
                _start(app, child)
        received = signal.sigtimedwait(_WATCHED, _until_next(running))
        stop = received is not None and received.si_signo != signal.SIGCHLD
        _collect(running)
    stops = ((signal.SIGTERM, STOP_SECONDS),)
    stop_together([(child.process, stops) for child in running if child.process is not None])
    log.info("workers.stopped")
    return 0


def _until_next(running: list[Child]) -> float:
    due = [at for child in running if (at := child.restarts.due_at) is not None]
    return max(0.0, min(due) - time.monotonic()) if due else 60.0


def _start(app: Flask, child: Child) -> None:
    parent = os.getpid()
    sys.stdout.flush()
    child.restarts.record_start()
    pid = os.fork()
    if pid == 0:
        _become(app, child, parent)
    child.process = ForkedChild(pid)


def _become(app: Flask, child: Child, parent: int) -> NoReturn:
    """Be the child: never returns into the parent's stack."""
    status = 1
    try:
        process_lifetime.die_with_parent(parent)
        # The one that a running worker asks between two jobs.
        stopping = worker.stopping
        listen(stopping)
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        signal.pthread_sigmask(signal.SIG_SETMASK, set())
        with app.app_context():
            db.dispose()
        child.target(app, stopping)
        status = 0
    except BaseException:  # whatever it was, the parent starts it again
        log.exception("worker.died", name=child.name)
    finally:
        sys.stdout.flush()
        metrics.flush()
        logging.flush()
        os._exit(status)


def _collect(running: list[Child]) -> None:
    """Note every child that ended, and when it must be started again."""
    for child in running:
        if child.process is None or (status := child.process.poll()) is None:
            continue
        child.process = None
        delay = child.restarts.record_exit(_BACKOFF)
        log.warning("workers.child_ended", name=child.name, status=status, restart_in=delay)
