"""How much memory a set of processes takes."""

import os
from collections.abc import Iterable
from pathlib import Path

from devserver.processes import tree


def pss(pids: Iterable[int]) -> int:
    """Proportional set size of the processes together, in bytes.

    A page that several processes share counts for each of them by its share, so that the sum over
    all processes of a service is the memory it takes (proc(5), smaps_rollup). A process that has
    ended counts as nothing. One whose shares this user may not see, as those that read documents,
    counts with the pages that are its own or copies of its parent's.
    """
    return sum(_pss(pid) for pid in pids)


def tree_pss(root: int) -> int:
    """`pss` of the process `root` and all its descendants."""
    return pss(process.pid for process in tree(root))


def _pss(pid: int) -> int:
    try:
        lines = Path(f"/proc/{pid}/smaps_rollup").read_text(encoding="ascii").splitlines()
    except (FileNotFoundError, ProcessLookupError):
        return 0
    except PermissionError:
        return _anonymous(pid)
    return sum(int(line.split()[1]) * 1024 for line in lines if line.startswith("Pss:"))


def _anonymous(pid: int) -> int:
    """Return the resident memory that no file backs, which everybody may see."""
    try:
        _, resident, shared, *_ = Path(f"/proc/{pid}/statm").read_text(encoding="ascii").split()
    except (FileNotFoundError, ProcessLookupError):
        return 0
    return (int(resident) - int(shared)) * os.sysconf("SC_PAGE_SIZE")
