"""The delays before restarts of child processes, and stopping several processes."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from typing import NoReturn

import pytest

from app.kit.child_processes import (
    Backoff,
    ForkedChild,
    RestartState,
    describe_exit,
    send_signal,
    stop_in_parallel,
)


def _fork(target: Callable[[], object]) -> ForkedChild:
    """Fork a child, and wait until it reports that it is ready for signals."""
    reading, writing = os.pipe()
    pid = os.fork()
    if pid == 0:
        _become(target, writing)
    os.close(writing)
    os.read(reading, 1)
    os.close(reading)
    return ForkedChild(pid)


def _become(target: Callable[[], object], ready: int) -> NoReturn:
    try:
        target()
        os.write(ready, b"1")
        while True:
            signal.pause()
    finally:
        os._exit(70)


def test_the_delay_doubles_up_to_its_limit() -> None:
    restarts = RestartState()
    delays = []
    for _ in range(4):
        restarts.record_start()
        assert restarts.due_at is None
        delays.append(
            restarts.record_exit(
                Backoff(first_seconds=0.5, longest_seconds=1.5, healthy_seconds=60.0)
            )
        )
    assert delays == [0.5, 1.0, 1.5, 1.5]
    assert restarts.exit_count == 4
    assert not restarts.is_due


def test_a_healthy_life_resets_the_delay(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = [100.0]
    monkeypatch.setattr(time, "monotonic", lambda: clock[0])
    backoff = Backoff(first_seconds=1.0, longest_seconds=8.0, healthy_seconds=10.0)
    restarts = RestartState()
    restarts.record_start()
    assert [restarts.record_exit(backoff), restarts.record_exit(backoff)] == [1.0, 2.0]
    clock[0] += 2.0
    assert restarts.is_due
    restarts.record_start()
    assert not restarts.is_due
    clock[0] += 10.0
    assert restarts.record_exit(backoff) == 1.0
    assert restarts.exit_count == 1


def test_a_forked_child_that_ignores_its_signal_is_killed() -> None:
    deaf = _fork(lambda: signal.signal(signal.SIGTERM, signal.SIG_IGN))
    obedient = _fork(lambda: signal.signal(signal.SIGTERM, lambda *_: os._exit(5)))
    stops = ((signal.SIGTERM, 0.2),)
    stop_in_parallel([(deaf, stops), (obedient, ((signal.SIGTERM, 60.0),))])
    assert (deaf.status, obedient.status) == (-signal.SIGKILL, 5)
    assert deaf.poll() == -signal.SIGKILL
    send_signal(deaf.pid, signal.SIGTERM)


def test_a_program_stops_beside_forked_children() -> None:
    program = subprocess.Popen([sys.executable, "-c", "import signal; signal.pause()"])
    stop_in_parallel([(program, ((signal.SIGTERM, 60.0),))])
    assert program.returncode == -signal.SIGTERM


def test_an_exit_is_described_in_words() -> None:
    assert describe_exit(3) == "exited with status 3"
    assert describe_exit(-signal.SIGKILL) == "was killed by SIGKILL"
    assert describe_exit(-60) == "was killed by signal 60"
