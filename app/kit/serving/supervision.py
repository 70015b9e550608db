"""The descriptors that the supervisor passes to gunicorn, and the lifetime of workers.

The supervisor passes three file descriptors: the listening socket, one end of a pipe that is closed
when the supervisor exits (the lifeline), and a pipe on which a worker reports that it is ready.
Workers that have these descriptors outlive their master: they continue to serve until the workers
of the next master are ready. Under another process manager, workers do not have them, and exit with
their master.

This module imports only the standard library, to keep the supervisor small.
"""

import faulthandler
import os

from app.kit.process_lifetime import die_with_parent, die_with_pipe

LISTENER_ENV, LIFELINE_ENV, READY_ENV = "API_LISTENER_FD", "API_LIFELINE_FD", "API_READY_FD"


def get_bind_address(address: str) -> str:
    """Return the bind address for gunicorn: the supervisor's socket if it exists, or `address`."""
    descriptor = os.environ.get(LISTENER_ENV)
    return f"fd://{descriptor}" if descriptor else address


def is_supervised() -> bool:
    """Return whether the supervisor started this process. If so, workers outlive their master."""
    return LIFELINE_ENV in os.environ


def set_death_signal(master_pid: int) -> None:
    """Have the kernel kill this worker when the supervisor (or, without one, the master) exits."""
    if is_supervised():
        die_with_pipe(int(os.environ[LIFELINE_ENV]))
    else:
        die_with_parent(master_pid)


def report_ready() -> None:
    """Report to the supervisor, if there is one, that this worker is ready."""
    descriptor = os.environ.get(READY_ENV)
    if descriptor:
        os.write(int(descriptor), f"{os.getpid()}\n".encode())


def restart_watchdog(seconds: float) -> None:
    """Start or restart the timer that exits this process after `seconds`.

    If the master has exited, this replaces its check for workers that hang. The timer is a C
    thread, so it works even if the interpreter hangs.
    """
    faulthandler.dump_traceback_later(seconds, exit=True)
