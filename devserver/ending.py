"""How child processes end: stopping them, collecting them, and saying what happened."""

import contextlib
import os
import signal
import time
from collections.abc import Sequence
from typing import Protocol

from devserver.processes import own_children

Stops = Sequence[tuple[int, float]]
"""Signals that end a process, each with the seconds it gets before the next one."""


class Ending(Protocol):
    """A process that is to end, such as a Popen."""

    @property
    def pid(self) -> int: ...
    def poll(self) -> int | None: ...


Plan = tuple[Ending, Stops]
"""A process, and how to end it."""

_KILL = (int(signal.SIGKILL), 10.0)


def send(pid: int, number: int) -> None:
    """Signal a process that may have ended already."""
    with contextlib.suppress(ProcessLookupError):
        os.kill(pid, number)


def stop_together(running: Sequence[Plan]) -> None:
    """Take every process through its signals, SIGKILL last; all of them wait at the same time."""
    plans = {process.pid: (process, [*stops, _KILL]) for process, stops in running}
    due = dict.fromkeys(plans, 0.0)
    while plans:
        for pid, (process, signals) in list(plans.items()):
            if process.poll() is not None or (not signals and time.monotonic() >= due[pid]):
                del plans[pid]
            elif time.monotonic() >= due[pid]:
                number, seconds = signals.pop(0)
                send(pid, number)
                due[pid] = time.monotonic() + seconds
        time.sleep(0.005)


def next_ended() -> int | None:
    """A child of this process that has ended; it stays to be collected by its owner."""
    try:
        found = os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOHANG | os.WNOWAIT)
    except ChildProcessError:
        return None
    return None if found is None else found.si_pid


def sweep(seconds: float) -> None:
    """Kill and collect every child of this process, and for so long what becomes one by that."""
    deadline = time.monotonic() + seconds
    while (left := own_children()) and time.monotonic() < deadline:
        for process in left:
            send(process.pid, signal.SIGKILL)
        time.sleep(0.005)
    with contextlib.suppress(ChildProcessError):
        while os.waitpid(-1, os.WNOHANG)[0]:
            pass


def describe(status: int) -> str:
    """What a Popen return code means, in words."""
    if status >= 0:
        return f"ended with status {status}"
    try:
        return f"was ended by {signal.Signals(-status).name}"
    except ValueError:  # a real-time signal
        return f"was ended by signal {-status}"
