"""What the supervisor gives to gunicorn, and how a worker lives without its master.

The supervisor passes three descriptors: the listening socket, the end of a pipe that closes when
the supervisor ends (the lifeline), and one to report on that a worker is ready. With them workers
outlive their master: they go on serving until the supervisor has seen the next master's workers
ready. Without them, under another process manager, they end with their master.

Only the standard library is imported here: the supervisor stays small.
"""

import faulthandler
import os

from app.kit.deaths import die_with_parent, die_with_pipe

LISTENER, LIFELINE, READY = "API_LISTENER_FD", "API_LIFELINE_FD", "API_READY_FD"


def bind(address: str) -> str:
    """Return where gunicorn listens: on the supervisor's socket, or on this address."""
    descriptor = os.environ.get(LISTENER)
    return f"fd://{descriptor}" if descriptor else address


def is_supervised() -> bool:
    """Whether a worker may outlive its master."""
    return LIFELINE in os.environ


def bind_life(master: int) -> None:
    """End this worker with the supervisor, or else with its master."""
    if is_supervised():
        die_with_pipe(int(os.environ[LIFELINE]))
    else:
        die_with_parent(master)


def report_ready() -> None:
    """Tell the supervisor that this worker serves."""
    descriptor = os.environ.get(READY)
    if descriptor:
        os.write(int(descriptor), f"{os.getpid()}\n".encode())


def watch_oneself(seconds: float) -> None:
    """End this process unless this is called again in time: no master looks whether it hangs.

    A thread of the C library does it, so that it works whatever the interpreter is stuck in.
    """
    faulthandler.dump_traceback_later(seconds, exit=True)
