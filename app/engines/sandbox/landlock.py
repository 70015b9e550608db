"""Restrict a process's access to files and other processes with Landlock (Linux 5.13 or later).

The constants come from linux/landlock.h. The system call numbers are the same on all architectures.
"""

import ctypes
import os
from collections.abc import Iterable
from pathlib import Path

_LIBC = ctypes.CDLL(None, use_errno=True)
_LIBC.syscall.restype = ctypes.c_long
_CREATE_RULESET, _ADD_RULE, _RESTRICT_SELF = 444, 445, 446
_CREATE_RULESET_VERSION = 1
_RULE_PATH_BENEATH = 1
_READ_FILE, _READ_DIR = 1 << 2, 1 << 3
# The supported restrictions by minimum Landlock version: rights for files and for TCP ports, and
# scopes for signals and sockets. The size of the structure also depends on the version.
_FILE_RIGHTS = ((5, (1 << 16) - 1), (3, (1 << 15) - 1), (2, (1 << 14) - 1), (1, (1 << 13) - 1))
_TCP_RIGHTS = ((4, 0b11), (1, 0))
_SCOPES = ((6, 0b11), (1, 0))
_SIZES = ((6, 24), (4, 16), (1, 8))


class _Ruleset(ctypes.Structure):
    _fields_ = (
        ("files", ctypes.c_uint64),
        ("tcp", ctypes.c_uint64),
        ("scopes", ctypes.c_uint64),
    )


class _PathBeneath(ctypes.Structure):
    _pack_ = 1
    _fields_ = (("allowed", ctypes.c_uint64), ("folder", ctypes.c_int32))


def get_version() -> int:
    """Return the Landlock version of the kernel, or 0 if the kernel has no Landlock."""
    version: int = _LIBC.syscall(_CREATE_RULESET, None, 0, _CREATE_RULESET_VERSION)
    return max(0, version)


def create_rules(readable_folders: Iterable[str]) -> int | None:
    """Create rules that permit reading files below these folders and nothing else.

    A process under these rules cannot open other files, or trace a process outside the rules. Since
    Linux 6.7, it cannot make TCP connections. Since Linux 6.12, it cannot signal a process outside
    the rules or connect to an abstract socket. Returns the descriptor of the rules, or None if the
    kernel has no Landlock. Raises OSError if the kernel refuses the rules.
    """
    version = get_version()
    if not version:
        return None
    ruleset = _Ruleset(
        *(_select_by_version(table, version) for table in (_FILE_RIGHTS, _TCP_RIGHTS, _SCOPES))
    )
    size = _select_by_version(_SIZES, version)
    ruleset_fd: int = _LIBC.syscall(_CREATE_RULESET, ctypes.byref(ruleset), size, 0)
    if ruleset_fd < 0:
        raise OSError(ctypes.get_errno(), "landlock_create_ruleset failed")
    for folder in readable_folders:
        if Path(folder).is_dir():
            _permit_reading(ruleset_fd, folder)
    return ruleset_fd


def _select_by_version(table: tuple[tuple[int, int], ...], version: int) -> int:
    return next(value for min_version, value in table if version >= min_version)


def _permit_reading(ruleset_fd: int, folder: str) -> None:
    folder_fd = os.open(folder, os.O_PATH | os.O_CLOEXEC)
    try:
        rule = _PathBeneath(_READ_FILE | _READ_DIR, folder_fd)
        if _LIBC.syscall(_ADD_RULE, ruleset_fd, _RULE_PATH_BENEATH, ctypes.byref(rule), 0) != 0:
            raise OSError(ctypes.get_errno(), "landlock_add_rule failed")
    finally:
        os.close(folder_fd)


def restrict_self(ruleset_fd: int) -> None:
    """Apply rules from `create_rules` to this process. Requires `PR_SET_NO_NEW_PRIVS`.

    Raises OSError if the kernel refuses the rules.
    """
    if _LIBC.syscall(_RESTRICT_SELF, ruleset_fd, 0) != 0:
        raise OSError(ctypes.get_errno(), "landlock_restrict_self failed")
