"""Find the processes of fork servers among the descendants of a process."""

import signal

import psutil

from tests.factories.processes import has_ended, send_signal
from tests.factories.waiting import wait_until

LAUNCHER = "engines/sandbox/launcher.py"


def list_launchers(pid: int | None = None) -> list[psutil.Process]:
    """Return the launchers that a process started. `pid` is its id, by default this process's."""
    return [child for child in _children(pid) if _is_launcher(child)]


def list_fork_servers(pid: int | None = None) -> list[psutil.Process]:
    """Return the fork servers that the launchers of a process started."""
    return [server for launcher in list_launchers(pid) for server in _children(launcher.pid)]


def list_sandboxed_processes(pid: int | None = None) -> list[psutil.Process]:
    """Return the sandboxed processes that parse documents for a process."""
    return [child for server in list_fork_servers(pid) for child in _children(server.pid)]


def belongs_to_fork_server(process: psutil.Process) -> bool:
    """Return whether a process is a launcher, a fork server or a sandboxed process."""
    return any("engines/sandbox/" in part.replace(".", "/") for part in process.cmdline())


def _children(pid: int | None) -> list[psutil.Process]:
    try:
        return psutil.Process(pid).children()
    except psutil.NoSuchProcess:
        return []


def _is_launcher(process: psutil.Process) -> bool:
    try:
        return any(LAUNCHER in part for part in process.cmdline())
    except (psutil.NoSuchProcess, psutil.ZombieProcess):
        return False


def kill(process: psutil.Process) -> None:
    """Kill a process and wait for its end."""
    send_signal(process, signal.SIGKILL)
    wait_until(lambda: has_ended(process), "the end of a killed process")
