"""The proportional set size of processes."""

import ctypes
import mmap
import os
import signal
from collections.abc import Iterator
from contextlib import contextmanager

from devserver import memory, processes
from tests.factories.waiting import wait_until

MIB = 1024 * 1024


@contextmanager
def forked(size: int) -> Iterator[int]:
    """Fork a child that shares `size` bytes with this process until the block ends."""
    with mmap.mmap(-1, size) as shared:
        shared[:] = b"x" * size
        pid = os.fork()
        if pid == 0:
            signal.pause()
        try:
            yield pid
        finally:
            os.kill(pid, signal.SIGKILL)
            os.waitpid(pid, 0)


def test_shared_pages_count_once_over_all_sharers():
    before = memory.measure_pss([os.getpid()])
    with forked(64 * MIB) as pid:
        together = memory.measure_pss([os.getpid(), pid])
        assert 60 * MIB < together - before < 90 * MIB


def test_a_process_that_has_ended_counts_as_nothing():
    pid = os.fork()
    if pid == 0:
        os._exit(0)
    os.waitpid(pid, 0)
    assert memory.measure_pss([pid]) == 0


def test_a_tree_has_every_descendant_and_no_zombie():
    with forked(MIB) as pid:
        zombie = os.fork()
        if zombie == 0:
            os._exit(0)
        wait_until(lambda: not processes.is_running(zombie))
        tree = {process.pid for process in processes.list_tree(os.getpid())}
        assert {os.getpid(), pid} <= tree
        assert zombie not in tree
        assert memory.measure_tree_pss(os.getpid()) > memory.measure_pss([os.getpid(), pid]) - MIB
        assert {pid, zombie} & {child.pid for child in processes.list_children()} == {pid}
        os.waitpid(zombie, 0)
    assert not processes.is_running(pid)


def test_a_process_that_this_user_may_not_look_into_counts_too():
    reading, writing = os.pipe()
    hidden = os.fork()
    if hidden == 0:
        if os.geteuid() == 0:
            os.setresuid(1234, 1234, 1234)
        ctypes.CDLL(None).prctl(4, 0, 0, 0, 0)  # PR_SET_DUMPABLE
        own = bytearray(b"x") * (32 * MIB)
        os.write(writing, b"%d" % len(own))
        signal.pause()
    assert os.read(reading, 16) == b"%d" % (32 * MIB)
    # Where the kernel tells no share, what the process was forked with counts as its own.
    most = 2 * memory.measure_pss([os.getpid()]) + 100 * MIB
    observer = os.fork()
    if observer == 0:
        status = 1
        try:
            if os.geteuid() == 0:
                os.setresuid(1234, 1234, 1234)
            status = 0 if 30 * MIB < memory.measure_pss([hidden]) < most else 2
        finally:
            os._exit(status)
    try:
        assert os.waitpid(observer, 0)[1] == 0
    finally:
        os.kill(hidden, signal.SIGKILL)
        os.waitpid(hidden, 0)
        os.close(reading)
        os.close(writing)
