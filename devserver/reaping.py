"""Kill and reap child processes, including adopted orphans."""

import contextlib
import os
import signal
import time

from app.kit.child_processes import send_signal
from devserver.processes import list_children


def find_exited_child() -> int | None:
    """Return the id of a child that has exited, without reaping it, or None if there is none."""
    try:
        status = os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOHANG | os.WNOWAIT)
    except ChildProcessError:
        return None
    return None if status is None else status.si_pid


def kill_children(seconds: float) -> None:
    """Kill and reap all children and adopted orphans, for at most `seconds`."""
    deadline = time.monotonic() + seconds
    while (remaining := list_children()) and time.monotonic() < deadline:
        for process in remaining:
            send_signal(process.pid, signal.SIGKILL)
        time.sleep(0.005)
    with contextlib.suppress(ChildProcessError):
        while os.waitpid(-1, os.WNOHANG)[0]:
            pass
