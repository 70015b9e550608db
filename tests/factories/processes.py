"""Helpers for processes that may end at any time, and for those that run tests together."""

import contextlib
import signal

import psutil

SHARED = "LABELING_TESTS_SHARED"
"""The variable with the folder that all processes of a run of pytest share."""


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
