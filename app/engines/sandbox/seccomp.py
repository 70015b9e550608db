"""Prevent a process from starting other processes, but allow threads (Linux).

The kernel's limit on the processes of a user also counts threads, so it cannot forbid processes
but allow threads. A system call filter can, because it sees the flags of `clone`.

The constants come from linux/seccomp.h, linux/filter.h, linux/audit.h and asm/unistd.h.
"""

import ctypes
import errno
import platform
import sys
from typing import NamedTuple

_LIBC = ctypes.CDLL(None, use_errno=True)
_LIBC.prctl.argtypes = (ctypes.c_int, ctypes.c_ulong, ctypes.c_void_p, *[ctypes.c_ulong] * 2)
_PR_SET_SECCOMP, _MODE_FILTER = 22, 2
_ALLOW, _ERRNO = 0x7FFF0000, 0x00050000
_LOAD, _EQUALS, _HAS_BITS, _AT_LEAST, _RETURN = 0x20, 0x15, 0x45, 0x35, 0x06
_NUMBER_OFFSET, _ARCHITECTURE_OFFSET, _FLAGS_OFFSET = 0, 4, 16
_CLONE_THREAD = 0x00010000
_CLONE3 = 435


class _Architecture(NamedTuple):
    """The number of a processor architecture in the kernel, and its system call numbers."""

    number: int
    clone: int
    forbidden_calls: tuple[int, ...]
    """The numbers of fork, vfork, execve and execveat, if the architecture has them."""


_ARCHITECTURES = {
    "x86_64": _Architecture(0xC000003E, 56, (57, 58, 59, 322)),
    "aarch64": _Architecture(0xC00000B7, 220, (221, 281)),
}
_X32_TABLE = 0x40000000
"""The lowest system call number in the second table of x86_64 (x32)."""


class _Instruction(ctypes.Structure):
    _fields_ = (
        ("code", ctypes.c_uint16),
        ("if_true", ctypes.c_uint8),
        ("if_false", ctypes.c_uint8),
        ("operand", ctypes.c_uint32),
    )


class _Program(ctypes.Structure):
    _fields_ = (("length", ctypes.c_uint16), ("instructions", ctypes.POINTER(_Instruction)))


def forbid_new_processes() -> bool:
    """Prevent this process from starting processes or executing programs; threads are allowed.

    Requires `PR_SET_NO_NEW_PRIVS`. Returns False and changes nothing if the kernel or the processor
    is not supported.
    """
    architecture = _ARCHITECTURES.get(platform.machine())
    if architecture is None or sys.maxsize < 2**32:  # 32-bit system calls have other numbers
        return False
    rules = _build_rules(architecture)
    instructions = (_Instruction * len(rules))(*(_Instruction(*rule) for rule in rules))
    program = _Program(len(rules), instructions)
    status: int = _LIBC.prctl(_PR_SET_SECCOMP, _MODE_FILTER, ctypes.byref(program), 0, 0)
    return status == 0


def _build_rules(architecture: _Architecture) -> list[tuple[int, int, int, int]]:
    """Build the rules of the system call filter.

    A rule is (code, number of rules to skip if true, number of rules to skip if false, operand).
    """
    refusal = _ERRNO | errno.EPERM
    # Without clone3, the C library uses clone, whose flags a filter can read.
    tests = [(_EQUALS, _CLONE3, _ERRNO | errno.ENOSYS), (_AT_LEAST, _X32_TABLE, refusal)]
    tests += [(_EQUALS, number, refusal) for number in architecture.forbidden_calls]
    return [
        (_LOAD, 0, 0, _ARCHITECTURE_OFFSET),
        (_EQUALS, 1, 0, architecture.number),
        (_RETURN, 0, 0, refusal),
        (_LOAD, 0, 0, _NUMBER_OFFSET),
        *(
            rule
            for code, operand, result in tests
            for rule in ((code, 0, 1, operand), (_RETURN, 0, 0, result))
        ),
        (_EQUALS, 0, 3, architecture.clone),
        (_LOAD, 0, 0, _FLAGS_OFFSET),
        (_HAS_BITS, 1, 0, _CLONE_THREAD),
        (_RETURN, 0, 0, refusal),
        (_RETURN, 0, 0, _ALLOW),
    ]
