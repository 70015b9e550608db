"""Start child processes, restart them when they exit, and finally stop all of them.

The supervisor has a single thread, because a child gets its death signal when the thread that
started it ends. Signals are handled between two steps of the main loop, never during a step.
"""

import io
import os
import selectors
import signal
import subprocess
import time
from collections.abc import Callable, Iterable
from types import FrameType
from typing import NoReturn, Self

from app.kit.child_processes import Backoff, describe_exit, send_signal, stop_in_parallel
from app.kit.process_lifetime import adopt_orphans
from devserver import reaping
from devserver.child import Child, ChildSpec
from devserver.handover import Handover
from devserver.lines import LineReader
from devserver.process import Launch, read_log_tail, spawn
from devserver.processes import list_children
from devserver.server import ServerError

_STOP_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


class StopRequested(Exception):  # noqa: N818 - this is not an error
    """The supervisor has received a signal to stop."""


class ChildFailedError(RuntimeError):
    """A child has exited too often. The message contains its name and the end of its log."""


class Supervisor:
    """Starts children from their specs, and keeps them running.

    `report` is called with a line about each exit and restart. `on_change` is called when the
    process id of a child changes. Use the supervisor as a context manager in the main thread. It
    handles signals during the `with` block, and stops all children of this process at the end.
    Therefore the process must not have other children.
    """

    def __init__(
        self,
        report: Callable[[str], None],
        *,
        backoff: Backoff | None = None,
        on_change: Callable[[], None] = lambda: None,
    ) -> None:
        self._report = report
        self._backoff = backoff or Backoff()
        self._on_change = on_change
        self._stages: list[list[Child]] = []
        self._tasks: dict[int, subprocess.Popen[bytes]] = {}
        self._stopping = False
        self._selector = selectors.DefaultSelector()

    def __enter__(self) -> Self:
        adopt_orphans()
        self._wake_read, self._wake_write = os.pipe2(os.O_NONBLOCK | os.O_CLOEXEC)
        self._selector.register(self._wake_read, selectors.EVENT_READ)
        self._old_wakeup = signal.set_wakeup_fd(self._wake_write, warn_on_full_buffer=False)
        self._old_handlers = {
            number: signal.signal(number, self._on_signal)
            for number in (*_STOP_SIGNALS, signal.SIGCHLD)
            if (number, signal.getsignal(number)) != (signal.SIGHUP, signal.SIG_IGN)  # nohup
        }
        return self

    def __exit__(self, *_: object) -> None:
        self.shutdown()
        signal.set_wakeup_fd(self._old_wakeup)
        for number, handler in self._old_handlers.items():
            signal.signal(number, handler)
        self._selector.close()
        os.close(self._wake_read)
        os.close(self._wake_write)

    def _on_signal(self, number: int, _frame: FrameType | None) -> None:
        if number in _STOP_SIGNALS:
            self._stopping = True

    def get_pids(self) -> dict[str, int]:
        """Return the process ids of the running children by name."""
        return {
            child.spec.name: child.process.pid
            for stage in self._stages
            for child in stage
            if child.process is not None
        }

    def start(self, *specs: ChildSpec) -> None:
        """Start these children as one stage; later stages are stopped before earlier stages.

        Raises the errors that `prepare` raises, or OSError if a program cannot be executed.
        """
        stage = [Child(spec) for spec in specs]
        self._stages.append(stage)
        for child in stage:
            if (handover := child.spec.handover) is not None:
                self._selector.register(
                    handover.report_reader, selectors.EVENT_READ, handover.process_reports
                )
            self._spawn(child)

    def run_task(
        self,
        build_launch: Callable[[int], Launch],
        on_line: Callable[[str], None],
        tick: Callable[[], None] = lambda: None,
    ) -> int:
        """Run a child until it exits, and return its exit status.

        `build_launch` is called with a file descriptor for the child, and `on_line` with every line
        that the child writes to that descriptor. `tick` is called regularly. Raises StopRequested
        when the supervisor receives a signal to stop.
        """
        read_descriptor, write_descriptor = os.pipe2(os.O_CLOEXEC | os.O_NONBLOCK)
        try:
            task = spawn(build_launch(write_descriptor))
        finally:
            os.close(write_descriptor)
        self._tasks[task.pid] = task
        with io.FileIO(read_descriptor, "r") as stream:
            line_reader = LineReader(stream, on_line)
            self._selector.register(stream, selectors.EVENT_READ, line_reader.read)
            try:
                self.wait_until(lambda: task.returncode is not None, tick=tick)
                line_reader.read()
            finally:
                self._selector.unregister(stream)
        return task.returncode

    def wait_until(
        self,
        is_done: Callable[[], bool],
        *,
        tick: Callable[[], None] = lambda: None,
        interval: float = 0.05,
        max_exits: int | None = None,
        seconds: float | None = None,
    ) -> None:
        """Supervise the children until `is_done()` returns true.

        `is_done` and `tick` are called at least every `interval` seconds. Raises StopRequested when
        the supervisor receives a signal to stop, ChildFailedError if a child has exited `max_exits`
        times in a row, and TimeoutError after `seconds`.
        """
        deadline = None if seconds is None else time.monotonic() + seconds
        while not is_done():
            if deadline is not None and time.monotonic() > deadline:
                raise TimeoutError(f"not ready after {seconds:g} s")
            self._run_step(interval)
            tick()
            if max_exits is not None:
                self._check_exits(max_exits)

    def run(
        self, tick: Callable[[], None] = lambda: None, interval: float | None = None
    ) -> NoReturn:
        """Supervise the children until a stop is requested, and then raise StopRequested.

        If `interval` is given, `tick` is called at least every `interval` seconds.
        """
        while True:
            self._run_step(interval)
            tick()

    def _run_step(self, max_seconds: float | None) -> None:
        if self._stopping:
            raise StopRequested
        self._handle_events(self._compute_timeout(max_seconds))
        self._reap_exited()
        for child in self._iterate_children():
            if child.restarts.is_due:
                self._restart(child)
        for handover in self._iterate_handovers():
            handover.kill_overdue()

    def _handle_events(self, timeout: float | None) -> None:
        for key, _ in self._selector.select(timeout):
            if key.data is not None:
                key.data()
        try:
            while os.read(self._wake_read, 512):
                pass
        except BlockingIOError:
            pass

    def _compute_timeout(self, max_seconds: float | None) -> float | None:
        due_times = [
            due_at
            for child in self._iterate_children()
            if (due_at := child.restarts.due_at) is not None
        ]
        due_times += [
            due_at for handover in self._iterate_handovers() for due_at in handover.list_deadlines()
        ]
        timeouts = [max(0.0, min(due_times) - time.monotonic())] if due_times else []
        return min([*timeouts, *([] if max_seconds is None else [max_seconds])], default=None)

    def _iterate_children(self) -> Iterable[Child]:
        return (child for stage in self._stages for child in stage)

    def _iterate_handovers(self) -> Iterable[Handover]:
        return (c.spec.handover for c in self._iterate_children() if c.spec.handover is not None)

    def _spawn(self, child: Child) -> None:
        child.restarts.record_start()
        child.process = spawn(child.spec.prepare())
        self._on_change()

    def _restart(self, child: Child) -> None:
        try:
            self._spawn(child)
        except (ServerError, OSError) as error:
            self._handle_exit(child, f"cannot be started: {error}")
        else:
            self._report(
                f"{child.spec.name} is running again, process {self.get_pids()[child.spec.name]}"
            )

    def _reap_exited(self) -> None:
        """Reap all processes that have exited: children, tasks and adopted orphans."""
        children_by_pid = {
            c.process.pid: c for c in self._iterate_children() if c.process is not None
        }
        while (pid := reaping.find_exited_child()) is not None:
            if (task := self._tasks.pop(pid, None)) is not None:
                task.wait()
            elif (child := children_by_pid.get(pid)) is not None and child.process is not None:
                status = child.process.wait()
                child.process = None
                if child.spec.handover is not None:
                    child.spec.handover.keep_workers(pid)
                self._kill_orphans()
                self._handle_exit(child, describe_exit(status))
                self._on_change()
            else:
                os.waitpid(pid, 0)
                for handover in self._iterate_handovers():
                    handover.remove(pid)

    def _handle_exit(self, child: Child, reason: str) -> None:
        delay = child.restarts.record_exit(child.spec.backoff or self._backoff)
        self._report(f"{child.spec.name} {reason}; next start in {delay:g} s")

    def _check_exits(self, max_exits: int) -> None:
        for child in self._iterate_children():
            if (exits := child.restarts.exit_count) >= max_exits:
                log_text = read_log_tail(child.spec.log) if child.spec.log else ""
                message = f"{child.spec.name} exited {exits} times in a row"
                raise ChildFailedError(
                    f"{message}; the end of its log:\n{log_text}" if log_text else message
                )

    def _kill_orphans(self) -> None:
        """Kill the orphaned processes of exited children, except workers that are handed over."""
        known_pids = {*self.get_pids().values(), *self._tasks}
        for process in list_children():
            is_kept = any(child.owns(process) for child in self._iterate_children())
            if process.pid not in known_pids and not is_kept:
                send_signal(process.pid, signal.SIGKILL)

    def shutdown(self) -> None:
        """Stop all children with the signals in their specs, in the reverse order of the stages."""
        for task in self._tasks.values():
            send_signal(task.pid, signal.SIGKILL)
        self._tasks.clear()
        while self._stages:
            stage = self._stages.pop()
            stop_in_parallel([plan for child in stage for plan in child.list_stop_plans()])
            for child in stage:
                if (handover := child.spec.handover) is not None:
                    self._selector.unregister(handover.report_reader)
                    handover.close()
        reaping.kill_children(10.0)
