"""Read from /proc which processes are running on this machine (proc(5))."""

import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

_PROC = Path("/proc")


@dataclass(frozen=True)
class Process:
    """A process on this machine.

    `state` is the state letter in /proc (`Z` for a zombie), and `session_id` is the id of the
    process that started the session.
    """

    pid: int
    parent_pid: int
    state: str
    session_id: int

    def read_command_line(self) -> str:
        """Return the command line as one string, or an empty string if the process has exited."""
        try:
            raw = (_PROC / str(self.pid) / "cmdline").read_bytes()
        except OSError:
            return ""
        return raw.rstrip(b"\0").replace(b"\0", b" ").decode("utf-8", "replace")


def list_processes() -> Iterator[Process]:
    """Yield every process on this machine that this user can see."""
    for entry in _PROC.glob("[0-9]*"):
        try:
            status = (entry / "stat").read_bytes()
        except OSError:
            continue
        # The second field is the name in parentheses, which may contain parentheses and spaces.
        fields = status[status.rindex(b")") + 2 :].split()
        state, parent_pid, session_id = fields[0].decode("ascii"), int(fields[1]), int(fields[3])
        yield Process(int(entry.name), parent_pid, state, session_id)


def list_tree(root_pid: int) -> list[Process]:
    """Return the process `root_pid` and its descendants, parents first, without zombies."""
    children: dict[int, list[Process]] = {}
    tree: list[Process] = []
    for process in list_processes():
        if process.state == "Z":
            continue
        children.setdefault(process.parent_pid, []).append(process)
        if process.pid == root_pid:
            tree.append(process)
    for process in tree:
        tree.extend(children.get(process.pid, ()))
    return tree


def is_running(pid: int) -> bool:
    """Return whether the process is running; a zombie is not running."""
    try:
        status = (_PROC / str(pid) / "stat").read_bytes()
    except OSError:
        return False
    return status[status.rindex(b")") + 2 :][:1] != b"Z"


def find_pids_by_folder(folder: Path, name: str) -> list[int]:
    """Return the ids of processes that run the program `name` in the working directory `folder`."""
    pids = []
    for process in list_processes():
        entry = _PROC / str(process.pid)
        try:
            if (entry / "comm").read_text().strip() == name and (entry / "cwd").samefile(folder):
                pids.append(process.pid)
        except OSError:  # the process has exited, or belongs to another user
            continue
    return pids


def list_children() -> list[Process]:
    """Return the direct children of this process, without zombies."""
    own_pid = os.getpid()
    return [p for p in list_processes() if p.parent_pid == own_pid and p.state != "Z"]
