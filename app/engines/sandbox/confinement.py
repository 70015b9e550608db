"""Restrict what the fork server and its processes may do in the kernel (Linux).

The server applies the restrictions that all forked processes inherit: no network, no new
privileges, and no access to their memory by other processes. Each process adds the other
restrictions itself: resource limits, no files except the libraries, no signals to other processes,
and an unprivileged user if the server is root.

Three restrictions always apply: resource limits, no new privileges, and termination with the
parent. If the kernel does not support another restriction, or does not permit the change of the
network or the user, the process runs without this restriction.
"""

import ctypes
import os
import resource
import signal
import sysconfig
from collections.abc import Iterable

from app.engines.sandbox import landlock, seccomp
from app.engines.sandbox.model import ProcessLimits

MAX_OPEN_FILES = 64
MAX_SERVER_OPEN_FILES = 256
MAX_THREADS = 4096
"""The limit on threads and processes per user, for a process that may start threads. It only
prevents a hostile document from using up the threads of the machine."""
UNPRIVILEGED_ID = 65_533
"""The user id and group id of sandboxed processes if the fork server runs as root.

Common distributions have no user with this id. On Alpine, it is the group `nogroup`.
"""

# Not /usr as a whole, because some installations keep the service and its documents below /usr.
_LIBRARY_FOLDERS = {
    *("/lib", "/lib64", "/usr/lib", "/usr/lib64", "/usr/local/lib"),
    *("/usr/share", "/usr/local/share"),  # fonts
}

_LIBC = ctypes.CDLL(None, use_errno=True)
_LIBC.prctl.argtypes = (ctypes.c_int, *[ctypes.c_ulong] * 4)
_PR_SET_PDEATHSIG, _PR_SET_DUMPABLE, _PR_SET_NO_NEW_PRIVS = 1, 4, 38
_CLONE_NEWIPC, _CLONE_NEWUSER, _CLONE_NEWNET = 0x08000000, 0x10000000, 0x40000000
_CAPABILITY_VERSION_3, _CAPABILITY_WORDS = 0x20080522, 6


def exit_with_parent(parent_pid: int) -> None:
    """Make the kernel kill this process when the process `parent_pid` exits.

    A later change of the user id cancels this request. If the parent has already exited, this
    process exits at once.
    """
    _LIBC.prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
    if os.getppid() != parent_pid:  # the parent exited before the request reached the kernel
        os._exit(1)


def confine_server() -> None:
    """Confine the server and the processes that it forks: drop the rights that no parser needs."""
    _LIBC.prctl(_PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    resource.setrlimit(resource.RLIMIT_NOFILE, (MAX_SERVER_OPEN_FILES, MAX_SERVER_OPEN_FILES))
    _isolate_network()
    # Prevents other processes of this user from tracing this process or reading its memory.
    _LIBC.prctl(_PR_SET_DUMPABLE, 0, 0, 0, 0)


def _isolate_network() -> None:
    """Move to a network namespace without interfaces, if the kernel permits this."""
    if os.geteuid() == 0:
        _LIBC.unshare(_CLONE_NEWNET | _CLONE_NEWIPC)
    elif _LIBC.unshare(_CLONE_NEWUSER | _CLONE_NEWNET | _CLONE_NEWIPC) == 0:
        # Drop the capabilities that come with a new user namespace.
        header = (ctypes.c_uint32 * 2)(_CAPABILITY_VERSION_3, 0)
        _LIBC.capset(header, (ctypes.c_uint32 * _CAPABILITY_WORDS)())


def create_file_rules() -> int | None:
    """Create rules that permit reading the libraries and no other files.

    Returns the descriptor of the rules, or None if the kernel does not support such rules. Raises
    OSError if the kernel refuses the rules.
    """
    paths = sysconfig.get_paths()
    package_folders = {paths[name] for name in ("stdlib", "platstdlib", "purelib", "platlib")}
    return landlock.create_rules(sorted(package_folders | _LIBRARY_FOLDERS))


def confine_process(
    limits: ProcessLimits,
    *,
    parent_pid: int,
    kept_descriptors: Iterable[int],
    ruleset_descriptor: int | None,
) -> None:
    """Confine this process, which has just been forked from `parent_pid`.

    The `kept_descriptors` stay open. `ruleset_descriptor` is a result of `create_file_rules`.
    Raises OSError if the kernel refuses the rules.
    """
    _drop_root()
    exit_with_parent(parent_pid)
    if ruleset_descriptor is not None:
        landlock.restrict_self(ruleset_descriptor)
    _close_other_descriptors(kept_descriptors)
    for limit, soft, hard in (
        (resource.RLIMIT_CPU, limits.cpu_seconds, limits.cpu_seconds + 1),
        (resource.RLIMIT_AS, limits.memory_bytes, limits.memory_bytes),
        (resource.RLIMIT_FSIZE, 0, 0),
        (resource.RLIMIT_CORE, 0, 0),
        (resource.RLIMIT_NOFILE, MAX_OPEN_FILES, MAX_OPEN_FILES),
    ):
        resource.setrlimit(limit, (soft, hard))
    threads = 0
    if limits.may_start_threads and seccomp.forbid_new_processes():
        _, maximum = resource.getrlimit(resource.RLIMIT_NPROC)  # a process cannot raise this limit
        threads = MAX_THREADS if maximum == resource.RLIM_INFINITY else min(MAX_THREADS, maximum)
    resource.setrlimit(resource.RLIMIT_NPROC, (threads, threads))


def _drop_root() -> None:
    """Change from root to an unprivileged user if possible.

    The limit on processes does not apply to root.
    """
    if os.geteuid() != 0:
        return
    try:
        os.setgroups([])
        os.setresgid(UNPRIVILEGED_ID, UNPRIVILEGED_ID, UNPRIVILEGED_ID)
        os.setresuid(UNPRIVILEGED_ID, UNPRIVILEGED_ID, UNPRIVILEGED_ID)
    except OSError:  # the user namespace of the container does not have this id
        return


def _close_other_descriptors(kept_descriptors: Iterable[int]) -> None:
    """Close every descriptor above standard error except those in `kept_descriptors`."""
    start = 3
    for descriptor in sorted(kept_descriptors):
        os.closerange(start, descriptor)
        start = descriptor + 1
    os.closerange(start, MAX_SERVER_OPEN_FILES)
