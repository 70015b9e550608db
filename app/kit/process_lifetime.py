"""Lifetimes and names of processes on Linux: parent death signals and adoption of orphans.

This module imports only the standard library, to keep the supervisor small.
"""

import ctypes
import fcntl
import os
import select
import signal

_PR_SET_PDEATHSIG = 1
_PR_SET_NAME = 15
_PR_SET_CHILD_SUBREAPER = 36
_F_SETSIG = 10  # fcntl(2); not defined in the module `fcntl`
_LIBC = ctypes.CDLL(None, use_errno=True)


def die_with_parent(parent_pid: int, signal_number: int = signal.SIGKILL) -> None:
    """Have the kernel send `signal_number` to this process when the parent process exits.

    Call this in the child, after any change of user (which clears the setting). It uses prctl(2)
    with PR_SET_PDEATHSIG. The kernel sends the signal when the *thread* that created the child
    exits. A parent must therefore start its children from a thread that lives as long as the
    process. If the parent has exited already, this process is killed immediately.
    """
    _prctl(_PR_SET_PDEATHSIG, signal_number)
    if os.getppid() != parent_pid:
        os.kill(os.getpid(), signal.SIGKILL)


def die_with_pipe(descriptor: int) -> None:
    """Have the kernel kill this process when a pipe has no writer left.

    `descriptor` is the reading end of the pipe. Nothing may ever be written to the pipe. Unlike
    `die_with_parent`, this does not depend on which process is the parent. It calls fcntl(2) with
    F_SETOWN and F_SETSIG. These settings belong to the open file description, which forked
    processes share, so each process opens the pipe again. Kills this process immediately if the
    pipe has no writer.
    """
    pipe = os.open(f"/proc/self/fd/{descriptor}", os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    fcntl.fcntl(pipe, fcntl.F_SETOWN, os.getpid())
    fcntl.fcntl(pipe, _F_SETSIG, signal.SIGKILL)
    fcntl.fcntl(pipe, fcntl.F_SETFL, fcntl.fcntl(pipe, fcntl.F_GETFL) | os.O_ASYNC)
    poll = select.poll()
    poll.register(pipe, 0)
    if poll.poll(0):
        os.kill(os.getpid(), signal.SIGKILL)


def adopt_orphans() -> None:
    """Become the parent of every descendant process whose parent exits.

    It uses prctl(2) with PR_SET_CHILD_SUBREAPER. The caller must reap these processes with waitpid
    when they exit.
    """
    _prctl(_PR_SET_CHILD_SUBREAPER, 1)


def set_process_name(name: str) -> None:
    """Set the name that `ps` and `top` show for this process, at most 15 characters.

    It uses prctl(2) with PR_SET_NAME, which names the calling thread. Call it in the main thread.
    """
    _prctl(_PR_SET_NAME, name.encode())


def _prctl(option: int, value: int | bytes) -> None:
    if _LIBC.prctl(option, value, 0, 0, 0) != 0:
        raise OSError(ctypes.get_errno(), f"prctl({option}) failed")
