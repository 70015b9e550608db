"""Processes of this machine as /proc shows them (proc(5))."""

import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

_PROC = Path("/proc")


@dataclass(frozen=True)
class Process:
    """One process: its id, its parent's, its state letter (`Z` for one that has ended), and its
    session, which is the id of the process that began it."""

    pid: int
    parent: int
    state: str
    session: int

    def command(self) -> str:
        """Its command line as one string, empty when it has ended."""
        try:
            raw = (_PROC / str(self.pid) / "cmdline").read_bytes()
        except OSError:
            return ""
        return raw.rstrip(b"\0").replace(b"\0", b" ").decode("utf-8", "replace")


def all_processes() -> Iterator[Process]:
    """Every process that is there while this reads."""
    for entry in _PROC.glob("[0-9]*"):
        try:
            status = (entry / "stat").read_bytes()
        except OSError:
            continue
        # The second field is the name in brackets, and may itself hold brackets and spaces.
        fields = status[status.rindex(b")") + 2 :].split()
        state, parent, session = fields[0].decode("ascii"), int(fields[1]), int(fields[3])
        yield Process(int(entry.name), parent, state, session)


def tree(root: int) -> list[Process]:
    """The process `root` and all it descends to, parents first; those that ended are left out."""
    children: dict[int, list[Process]] = {}
    found: list[Process] = []
    for process in all_processes():
        if process.state == "Z":
            continue
        children.setdefault(process.parent, []).append(process)
        if process.pid == root:
            found.append(process)
    for process in found:
        found.extend(children.get(process.pid, ()))
    return found


def alive(pid: int) -> bool:
    """Whether the process runs; one that has ended and waits to be collected does not."""
    try:
        status = (_PROC / str(pid) / "stat").read_bytes()
    except OSError:
        return False
    return status[status.rindex(b")") + 2 :][:1] != b"Z"


def working_in(folder: Path, name: str) -> list[int]:
    """Processes of this program name whose working directory is `folder`."""
    found = []
    for process in all_processes():
        entry = _PROC / str(process.pid)
        try:
            if (entry / "comm").read_text().strip() == name and (entry / "cwd").samefile(folder):
                found.append(process.pid)
        except OSError:  # it ended, or belongs to somebody else
            continue
    return found


def own_children() -> list[Process]:
    """Direct children of this process that have not ended."""
    me = os.getpid()
    return [p for p in all_processes() if p.parent == me and p.state != "Z"]
