"""Processes that tests end: they may be gone between a look and the next."""

import contextlib
import signal

import psutil


def ended(process: psutil.Process) -> bool:
    """Whether a process runs no more, waited for or not."""
    try:
        return not process.is_running() or process.status() == psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return True


def send(process: psutil.Process, number: signal.Signals) -> None:
    """Signal a process, if it is there still."""
    with contextlib.suppress(psutil.NoSuchProcess):
        process.send_signal(number)
