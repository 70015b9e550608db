"""Helpers for processes that may end at any time."""

import contextlib
import signal

import psutil


def has_ended(process: psutil.Process) -> bool:
    """Return whether a process has ended, whether or not its parent has waited for it."""
    try:
        return not process.is_running() or process.status() == psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return True


def send_signal(process: psutil.Process, number: signal.Signals) -> None:
    """Send a signal to a process, if it still exists."""
    with contextlib.suppress(psutil.NoSuchProcess):
        process.send_signal(number)
