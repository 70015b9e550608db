"""Processes that end with the one that started them (Linux).

Only the standard library is imported here: the supervisor stays small.
"""

import ctypes
import os
import signal

_PR_SET_PDEATHSIG = 1
_PR_SET_CHILD_SUBREAPER = 36
_LIBC = ctypes.CDLL(None, use_errno=True)


def die_with_parent(parent: int, signal_number: int = signal.SIGKILL) -> None:
    """Have the kernel send `signal_number` to this process when process `parent` ends.

    Called in the child, after any change of user (which clears the setting). prctl(2),
    PR_SET_PDEATHSIG: the signal follows the parent's *thread*, so a parent must start its children
    from a thread that lives as long as it does. A parent already gone ends this process now.
    """
    _prctl(_PR_SET_PDEATHSIG, signal_number)
    if os.getppid() != parent:
        os.kill(os.getpid(), signal.SIGKILL)


def adopt_orphans() -> None:
    """Become the parent of every descendant that loses its own: prctl(2), PR_SET_CHILD_SUBREAPER.

    The caller must collect them with waitpid when they end.
    """
    _prctl(_PR_SET_CHILD_SUBREAPER, 1)


def _prctl(option: int, value: int) -> None:
    if _LIBC.prctl(option, value, 0, 0, 0) != 0:
        raise OSError(ctypes.get_errno(), f"prctl({option}) failed")
