"""The filter of system calls, evaluated as the kernel does it, for each processor."""

import errno
import platform

import pytest

from app.engines.sandbox import seccomp

ALLOWED, DENIED = 0x7FFF0000, 0x00050000 | errno.EPERM
MISSING = 0x00050000 | errno.ENOSYS
X86, ARM = 0xC000003E, 0xC00000B7
I386, ARM_32 = 0x40000003, 0x40000028
# What the C library passes to start a thread, and what fork and vfork pass (linux/sched.h).
THREAD, FORK, VFORK = 0x003D0F00, 0x01200011, 0x00004111
NEW_NAMESPACE = 0x10000000
HIGH_BITS = 1 << 32


def run_filter(machine: str, number: int, *, architecture: int, flags: int = 0) -> int:
    """Return the result of the filter (linux/bpf_common.h) for a system call."""
    data = {0: number, 4: architecture, 16: flags & 0xFFFFFFFF}
    rules = seccomp._build_rules(seccomp._ARCHITECTURES[machine])
    position, value = 0, 0
    while True:
        code, if_true, if_false, operand = rules[position]
        position += 1
        match code:
            case 0x20:
                value = data[operand]
            case 0x06:
                return operand
            case 0x15:
                position += if_true if value == operand else if_false
            case 0x35:
                position += if_true if value >= operand else if_false
            case 0x45:
                position += if_true if value & operand else if_false
            case _:
                raise AssertionError(code)


@pytest.mark.parametrize(
    ("machine", "architecture", "clone", "forbidden", "read"),
    [
        ("x86_64", X86, 56, {"fork": 57, "vfork": 58, "execve": 59, "execveat": 322}, 0),
        ("aarch64", ARM, 220, {"execve": 221, "execveat": 281}, 63),
    ],
)
def test_only_threads_are_started(
    machine: str, architecture: int, clone: int, forbidden: dict[str, int], read: int
) -> None:
    def run(number: int, flags: int = 0) -> int:
        return run_filter(machine, number, architecture=architecture, flags=flags)

    assert run(read) == ALLOWED
    assert {name: run(number) for name, number in forbidden.items()} == dict.fromkeys(
        forbidden, DENIED
    )
    assert run(435) == MISSING, "the C library falls back from clone3 to clone"
    assert run(clone, THREAD) == ALLOWED
    assert run(clone, THREAD | HIGH_BITS) == ALLOWED
    for flags in (FORK, VFORK, NEW_NAMESPACE, 0, THREAD & ~0x10000, HIGH_BITS):
        assert run(clone, flags) == DENIED, hex(flags)


@pytest.mark.parametrize("number", [0x40000000, 0x40000000 + 57, 0x40000000 + 520, 0xFFFFFFFF])
def test_the_second_table_of_system_calls_is_closed(number: int) -> None:
    assert run_filter("x86_64", number, architecture=X86) == DENIED


@pytest.mark.parametrize(
    ("machine", "architecture"), [("x86_64", I386), ("x86_64", ARM), ("aarch64", ARM_32)]
)
@pytest.mark.parametrize("number", [0, 2, 11, 56, 63, 120])
def test_calls_of_other_processors_are_closed(machine: str, architecture: int, number: int) -> None:
    assert run_filter(machine, number, architecture=architecture, flags=THREAD) == DENIED


def test_an_unknown_processor_has_no_filter(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(platform, "machine", lambda: "riscv64")
    assert not seccomp.forbid_new_processes()
