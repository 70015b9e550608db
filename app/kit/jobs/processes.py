"""The background processes: a parent that loads the application, and the children that it forks.

The parent never connects to the database or Redis, so that no child inherits a connection. Its
memory is frozen before the first fork, so that the children share it. When the parent dies, its
children are killed immediately. A child that fails is restarted, with increasing delays.

The processes of a group start when a job is due, and exit after JOB_IDLE_SECONDS without work.
Processes that are not needed therefore use neither memory nor connections.
"""

import gc
import mmap
import os
import signal
import sys
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from functools import partial
from threading import Event, Thread
from typing import NoReturn

from flask import Flask

from app.kit import container, db, logging, metrics, process_lifetime
from app.kit.child_processes import Backoff, ForkedChild, RestartState, stop_in_parallel
from app.kit.jobs import handlers, relay
from app.kit.jobs import worker as _worker  # noqa: F401 - loaded before the fork, for all children
from app.kit.jobs.queues import GROUPS, QueueGroup, count_local_slots, list_queues
from app.kit.jobs.relay import Relay
from app.kit.jobs.rq_workers import ForkingWorker, InProcessWorker, consume, stop_on_signals
from app.kit.logging import get_logger

log = get_logger(__name__)

STOP_SECONDS = 9.0
"""The time in seconds for which children may finish their current jobs before they are killed."""
SOURCE_STOP_SECONDS = 7.5
"""The timeout in seconds for a due source to stop. It is shorter than STOP_SECONDS, after which the
process of the source is killed."""
_BACKOFF = Backoff(first_seconds=0.2, longest_seconds=10.0, healthy_seconds=30.0)
_RELAY_TIMEOUT_SECONDS = 2.0
"""The timeout in seconds of the relay's Redis client."""
_STOP_SIGNALS = {signal.SIGTERM, signal.SIGINT}
_WAKE_UP_SIGNAL = signal.SIGUSR1
"""The signal that notifies the parent process of new requests in `StartRequests`."""
_WATCHED_SIGNALS = {signal.SIGCHLD, _WAKE_UP_SIGNAL, *_STOP_SIGNALS}

Target = Callable[[Flask, Event], None]


@dataclass
class Child:
    """A background process, which the parent process restarts after every failure.

    `target(app, stopping)` runs in the process, and returns once `stopping` is set. A process of a
    `group` starts when the relay requests it. Its `target` also returns after JOB_IDLE_SECONDS
    without work.
    """

    name: str
    target: Target
    group: str | None = None
    process: ForkedChild | None = None
    restarts: RestartState = field(default_factory=RestartState)

    @property
    def is_stopped(self) -> bool:
        """Return whether the process is neither running nor about to be restarted."""
        return self.process is None and self.restarts.due_at is None


class StartRequests:
    """The requests of the relay to start the processes of queue groups with waiting jobs.

    The relay and its parent share a byte of memory for each group, so requests cannot queue up.
    Create this object in the parent, before the fork.
    """

    def __init__(self) -> None:
        self._positions = {group: position for position, group in enumerate(GROUPS)}
        self._flags = mmap.mmap(-1, len(self._positions))
        self._parent_pid = os.getpid()

    def request(self, groups: Iterable[str]) -> None:
        """Make the parent process start the processes of `groups` that are not running."""
        for group in groups:
            self._flags[self._positions[group]] = True
        os.kill(self._parent_pid, _WAKE_UP_SIGNAL)

    def pop_groups(self) -> set[str]:
        """Return the requested groups, and clear the requests."""
        groups = {group for group, position in self._positions.items() if self._flags[position]}
        for group in groups:
            self._flags[self._positions[group]] = False
        return groups


def list_children(
    job_workers: int, start_requests: StartRequests, *, outbound: bool = True
) -> list[Child]:
    """Return the background processes without starting them.

    `job_workers` determines the number of processes that parse documents. If `outbound` is false,
    the result omits the processes that call other hosts: their jobs and webhook deliveries stay
    queued.
    """
    children = [Child("relay", partial(_run_relay, start_requests=start_requests))]
    for group in GROUPS.values():
        target = partial(_run_worker, group=group)
        if group.forking:
            (queue,) = list_queues(group)
            numbers = range(1, count_local_slots(queue, job_workers) + 1)
            names = [f"{group.name}-{number}" for number in numbers]
        else:
            names = [group.name] if outbound or not group.outbound else []
        children += [Child(name, target, group.name) for name in names]
    sources = handlers.SOURCES if outbound else []
    return children + [
        Child(source.name, partial(_run_source, source=source)) for source in sources
    ]


def _run_relay(app: Flask, stopping: Event, *, start_requests: StartRequests) -> None:
    client = container.current().redis(timeout=_RELAY_TIMEOUT_SECONDS)
    relay_loop = Relay(app, lambda: client, start_requests.request)
    relay_loop.stopping = stopping
    stop_on_signals(stopping)
    relay_loop.run()


def _run_worker(app: Flask, stopping: Event, *, group: QueueGroup) -> None:
    os.nice(group.nice)
    worker_class = ForkingWorker if group.forking else InProcessWorker
    connect = partial(container.current().redis, timeout=None)
    stop_on_signals(stopping)
    idle_seconds = container.settings().job_idle_seconds
    functions = frozenset({relay.DRAIN_FUNCTION})
    consume(worker_class, app, [group.name], functions, connect, stopping, idle_seconds)


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
    """Run the background processes until SIGTERM or SIGINT, and return the exit status.

    Call it in the main thread.
    """
    signal.pthread_sigmask(signal.SIG_BLOCK, _WATCHED_SIGNALS)
    settings = container.settings()
    start_requests = StartRequests()
    children = list_children(settings.job_workers, start_requests, outbound=settings.outbound)
    gc.collect()
    gc.freeze()
    log.info("workers.started", children=[child.name for child in children])
    for child in children:
        if child.group is None:
            _start_child(app, child)
    stop = False
    while not stop:
        received_signal = signal.sigtimedwait(_WATCHED_SIGNALS, _compute_restart_wait(children))
        stop = received_signal is not None and received_signal.si_signo in _STOP_SIGNALS
        _record_exits(children)
        requested_groups = start_requests.pop_groups()
        for child in () if stop else children:
            if child.restarts.is_due or (child.is_stopped and child.group in requested_groups):
                _start_child(app, child)
    signals = ((signal.SIGTERM, STOP_SECONDS),)
    stop_in_parallel([(child.process, signals) for child in children if child.process is not None])
    log.info("workers.stopped")
    return 0


def _compute_restart_wait(children: list[Child]) -> float:
    due_times = [at for child in children if (at := child.restarts.due_at) is not None]
    return max(0.0, min(due_times) - time.monotonic()) if due_times else 60.0


def _start_child(app: Flask, child: Child) -> None:
    parent_pid = os.getpid()
    sys.stdout.flush()
    child.restarts.record_start()
    pid = os.fork()
    if pid == 0:
        _run_child(app, child, parent_pid)
    child.process = ForkedChild(pid)


def _run_child(app: Flask, child: Child, parent_pid: int) -> NoReturn:
    """Run the child's target in the forked process, and exit the process."""
    status = 1
    try:
        process_lifetime.die_with_parent(parent_pid)
        process_lifetime.set_process_name(child.name)
        # Workers check this event between two jobs.
        stopping = handlers.stopping
        stop_on_signals(stopping)
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        signal.pthread_sigmask(signal.SIG_SETMASK, set())
        with app.app_context():
            db.discard_parent_connections()
        child.target(app, stopping)
        status = 0
    except BaseException:  # the parent restarts the child after any failure
        log.exception("worker.died", name=child.name)
    finally:
        sys.stdout.flush()
        metrics.flush()
        logging.flush()
        os._exit(status)


def _record_exits(children: list[Child]) -> None:
    """Record which children have exited, and when to restart failed children."""
    for child in children:
        if child.process is None or (status := child.process.poll()) is None:
            continue
        child.process = None
        if child.group is not None and status == 0:
            log.debug("workers.child_idle", name=child.name)
            continue
        delay = child.restarts.record_exit(_BACKOFF)
        log.warning("workers.child_ended", name=child.name, status=status, restart_in=delay)
