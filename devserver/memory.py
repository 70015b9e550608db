"""Measure the memory of processes."""

import os
from collections.abc import Iterable
from pathlib import Path

from devserver.processes import list_tree


def measure_pss(pids: Iterable[int]) -> int:
    """Return the proportional set size of the processes together, in bytes.

    A page that several processes share counts for each of them with its share, so the sum over all
    processes of a service is the memory that it takes (proc(5), smaps_rollup). Ended processes
    count 0. A process whose shares this user may not read, such as a confined parser, counts with
    its private pages.
    """
    return sum(_pss(pid) for pid in pids)


def measure_tree_pss(root: int) -> int:
    """Return the proportional set size of the process `root` and its descendants, in bytes."""
    return measure_pss(process.pid for process in list_tree(root))


def _pss(pid: int) -> int:
    try:
        lines = Path(f"/proc/{pid}/smaps_rollup").read_text(encoding="ascii").splitlines()
    except (FileNotFoundError, ProcessLookupError):
        return 0
    except PermissionError:
        return _read_anonymous(pid)
    return sum(int(line.split()[1]) * 1024 for line in lines if line.startswith("Pss:"))


def _read_anonymous(pid: int) -> int:
    """Return the resident memory that is not mapped from files, in bytes."""
    try:
        _, resident, shared, *_ = Path(f"/proc/{pid}/statm").read_text(encoding="ascii").split()
    except (FileNotFoundError, ProcessLookupError):
        return 0
    return (int(resident) - int(shared)) * os.sysconf("SC_PAGE_SIZE")
