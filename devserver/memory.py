"""Measure how much memory processes use."""

import os
from collections.abc import Iterable
from pathlib import Path

from devserver.processes import list_tree


def measure_pss(pids: Iterable[int]) -> int:
    """Return the total proportional set size of the processes in bytes.

    A page that n processes share counts as 1/n of a page for each process, so the sum over all
    processes of a service is the memory that the service uses (proc(5), smaps_rollup). Processes
    that have exited count as 0. If this user is not allowed to read this value for a process, for
    example for a sandboxed parser, the private pages of the process are counted instead.
    """
    return sum(_read_pss(pid) for pid in pids)


def measure_tree_pss(root_pid: int) -> int:
    """Return the proportional set size in bytes of the process `root_pid` and its descendants."""
    return measure_pss(process.pid for process in list_tree(root_pid))


def _read_pss(pid: int) -> int:
    try:
        lines = Path(f"/proc/{pid}/smaps_rollup").read_text(encoding="ascii").splitlines()
    except (FileNotFoundError, ProcessLookupError):
        return 0
    except PermissionError:
        return _read_private_memory(pid)
    return sum(int(line.split()[1]) * 1024 for line in lines if line.startswith("Pss:"))


def _read_private_memory(pid: int) -> int:
    """Return the process's resident memory in bytes that is not shared or mapped from files."""
    try:
        _, resident, shared, *_ = Path(f"/proc/{pid}/statm").read_text(encoding="ascii").split()
    except (FileNotFoundError, ProcessLookupError):
        return 0
    return (int(resident) - int(shared)) * os.sysconf("SC_PAGE_SIZE")
