"""What the kernel refuses to the server and to its processes (Linux).

The server takes once what holds for all that it forks: no network, no new privileges, no look into
its memory. Each process takes the rest for itself: limits, no files but the libraries, no signals
to others, and an unprivileged user where the server is root.

The limits, no new privileges and the bond to the parent are certain. The kernel may lack or refuse
the others; then the process runs without them.
"""

import ctypes
import os
import resource
import signal
import sysconfig
from collections.abc import Iterable

from app.engines.sandbox import landlock
from app.engines.sandbox.model import ProcessLimits

OPEN_FILES = 64
SERVER_OPEN_FILES = 256
UNPRIVILEGED_ID = 65_533
"""The user and group of a process whose server is root. Systems give it to nobody."""

# Not /usr as a whole: some install the service, and its documents, below it.
_LIBRARIES = {
    *("/lib", "/lib64", "/usr/lib", "/usr/lib64", "/usr/local/lib"),
    *("/usr/share", "/usr/local/share"),  # fonts
}

_LIBC = ctypes.CDLL(None, use_errno=True)
_LIBC.prctl.argtypes = (ctypes.c_int, *[ctypes.c_ulong] * 4)
_PR_SET_PDEATHSIG, _PR_SET_DUMPABLE, _PR_SET_NO_NEW_PRIVS = 1, 4, 38
_CLONE_NEWIPC, _CLONE_NEWUSER, _CLONE_NEWNET = 0x08000000, 0x10000000, 0x40000000
_CAPABILITY_VERSION_3, _CAPABILITY_WORDS = 0x20080522, 6


def die_with_parent(parent: int) -> None:
    """Have the kernel kill this process when `parent` ends. A change of user undoes this."""
    _LIBC.prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
    if os.getppid() != parent:  # it ended before the kernel was told
        os._exit(1)


def confine_server() -> None:
    """Give up, for this process and all that it forks, what no parser needs."""
    _LIBC.prctl(_PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    resource.setrlimit(resource.RLIMIT_NOFILE, (SERVER_OPEN_FILES, SERVER_OPEN_FILES))
    _leave_network()
    # No other process of this user can read its memory or trace it.
    _LIBC.prctl(_PR_SET_DUMPABLE, 0, 0, 0, 0)


def _leave_network() -> None:
    """Move to a network without interfaces, where the kernel permits that."""
    if os.geteuid() == 0:
        _LIBC.unshare(_CLONE_NEWNET | _CLONE_NEWIPC)
    elif _LIBC.unshare(_CLONE_NEWUSER | _CLONE_NEWNET | _CLONE_NEWIPC) == 0:
        # The new user namespace came with every capability inside of it.
        header = (ctypes.c_uint32 * 2)(_CAPABILITY_VERSION_3, 0)
        _LIBC.capset(header, (ctypes.c_uint32 * _CAPABILITY_WORDS)())


def create_file_rules() -> int | None:
    """Create the rules by which a process reads the libraries and opens no other file."""
    paths = sysconfig.get_paths()
    packages = {paths[name] for name in ("stdlib", "platstdlib", "purelib", "platlib")}
    return landlock.create_rules(sorted(packages | _LIBRARIES))


def confine_process(
    limits: ProcessLimits, *, parent: int, keep: Iterable[int], file_rules: int | None
) -> None:
    """Confine a process that was just forked. The descriptors in `keep` stay open."""
    _leave_root()
    die_with_parent(parent)
    if file_rules is not None:
        landlock.restrict_self(file_rules)
    _close_others(keep)
    for kind, soft, hard in (
        (resource.RLIMIT_CPU, limits.cpu_seconds, limits.cpu_seconds + 1),
        (resource.RLIMIT_AS, limits.memory_bytes, limits.memory_bytes),
        (resource.RLIMIT_FSIZE, 0, 0),
        (resource.RLIMIT_CORE, 0, 0),
        (resource.RLIMIT_NPROC, 0, 0),
        (resource.RLIMIT_NOFILE, OPEN_FILES, OPEN_FILES),
    ):
        resource.setrlimit(kind, (soft, hard))


def _leave_root() -> None:
    """Change to a user without rights. Root is not bound by the limit on processes."""
    if os.geteuid() != 0:
        return
    try:
        os.setgroups([])
        os.setresgid(UNPRIVILEGED_ID, UNPRIVILEGED_ID, UNPRIVILEGED_ID)
        os.setresuid(UNPRIVILEGED_ID, UNPRIVILEGED_ID, UNPRIVILEGED_ID)
    except OSError:  # a container whose user namespace lacks the id
        return


def _close_others(keep: Iterable[int]) -> None:
    """Close every descriptor above standard error except those in `keep`."""
    start = 3
    for descriptor in sorted(keep):
        os.closerange(start, descriptor)
        start = descriptor + 1
    os.closerange(start, SERVER_OPEN_FILES)
