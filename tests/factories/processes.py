"""Helpers for processes that may end at any time, and the folder that test processes share."""

import contextlib
import os
import signal
import subprocess
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path

import psutil

SHARED = "LABELING_TESTS_SHARED"
"""The environment variable with the path of the folder that all processes of a pytest run share."""


def has_ended(process: psutil.Process) -> bool:
    """Return whether a process has ended. A zombie counts as ended."""
    try:
        return not process.is_running() or process.status() == psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return True


def send_signal(process: psutil.Process, number: signal.Signals) -> None:
    """Send a signal to a process, if it still exists."""
    with contextlib.suppress(psutil.NoSuchProcess):
        process.send_signal(number)


def run_script(script: str, *arguments: str, env: Mapping[str, str] | None = None) -> str:
    """Run a Python script in a process of its own, and return what it prints."""
    root = Path(__file__).resolve().parents[2]
    command = [sys.executable, "-c", script, *arguments]
    return subprocess.run(
        command, cwd=root, env=env, capture_output=True, text=True, check=True, timeout=300
    ).stdout


@contextlib.contextmanager
def freeze(pid: int | None) -> Iterator[None]:
    """Stop a running process during the block, so that it hangs."""
    assert pid is not None
    os.kill(pid, signal.SIGSTOP)
    try:
        yield
    finally:
        os.kill(pid, signal.SIGCONT)
