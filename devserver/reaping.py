"""Collect the ended children of this process, including adopted orphans."""

import contextlib
import os
import signal
import time

from app.kit.child_processes import send_signal
from devserver.processes import list_children


def find_ended_child() -> int | None:
    """Return the id of an ended child without collecting it, or None if no child has ended."""
    try:
        status = os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOHANG | os.WNOWAIT)
    except ChildProcessError:
        return None
    return None if status is None else status.si_pid


def kill_children(seconds: float) -> None:
    """Kill and collect all children and adopted orphans, for at most `seconds`."""
    deadline = time.monotonic() + seconds
    while (remaining := list_children()) and time.monotonic() < deadline:
        for process in remaining:
            send_signal(process.pid, signal.SIGKILL)
        time.sleep(0.005)
    with contextlib.suppress(ChildProcessError):
        while os.waitpid(-1, os.WNOHANG)[0]:
            pass
