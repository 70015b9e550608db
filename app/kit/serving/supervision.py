"""The descriptors that the supervisor passes to gunicorn, and workers that outlive their master.

The supervisor passes three descriptors: the listening socket, one end of a pipe that is closed when
the supervisor ends (the lifeline), and one on which a worker reports that it is ready. With them,
workers outlive their master: they continue to serve until the workers of the next master are ready.
Without them, under another process manager, workers end with their master.

This module imports only the standard library, to keep the supervisor small.
"""

import faulthandler
import os

from app.kit.process_lifetime import die_with_parent, die_with_pipe

LISTENER, LIFELINE, READY = "API_LISTENER_FD", "API_LIFELINE_FD", "API_READY_FD"


def bind(address: str) -> str:
    """Return the address for gunicorn: the supervisor's socket if there is one, else `address`."""
    descriptor = os.environ.get(LISTENER)
    return f"fd://{descriptor}" if descriptor else address


def is_supervised() -> bool:
    """Return whether the supervisor started this process; then workers outlive their master."""
    return LIFELINE in os.environ


def set_death_signal(master: int) -> None:
    """Make this worker end with the supervisor if there is one, else with its master."""
    if is_supervised():
        die_with_pipe(int(os.environ[LIFELINE]))
    else:
        die_with_parent(master)


def report_ready() -> None:
    """Report to the supervisor that this worker is ready."""
    descriptor = os.environ.get(READY)
    if descriptor:
        os.write(int(descriptor), f"{os.getpid()}\n".encode())


def restart_watchdog(seconds: float) -> None:
    """End this process unless this function is called again within `seconds`.

    It replaces the master's check for workers that hang. The timer is a thread in C, so
    it works even if the interpreter hangs.
    """
    faulthandler.dump_traceback_later(seconds, exit=True)
