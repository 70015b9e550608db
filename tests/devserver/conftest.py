"""Helpers of the devserver's tests: real processes, watched from outside."""

import json
import os
import queue
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from devserver import processes

ROOT = Path(__file__).parents[2]


def wait_until(done: Callable[[], Any], seconds: float = 60.0) -> Any:
    """The first true value of `done()`; fails the test when there is none in time."""
    deadline = time.monotonic() + seconds
    while not (value := done()):
        if time.monotonic() > deadline:
            pytest.fail(f"waited {seconds} s in vain")
        time.sleep(0.01)
    return value


class Running:
    """A Python program under test, its output read as it comes."""

    def __init__(self, *arguments: str, env: dict[str, str] | None = None) -> None:
        self.process = subprocess.Popen(
            [sys.executable, *arguments],
            cwd=ROOT,
            env={"PATH": os.environ["PATH"], "PYTHONPATH": str(ROOT), **(env or {})},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            start_new_session=True,
        )
        self.output: list[str] = []
        self._lines: queue.SimpleQueue[str | None] = queue.SimpleQueue()
        threading.Thread(target=self._read, daemon=True).start()

    def _read(self) -> None:
        assert self.process.stdout is not None
        for line in self.process.stdout:
            self._lines.put(line.rstrip("\n"))
        self._lines.put(None)

    @property
    def pid(self) -> int:
        return self.process.pid

    def line(self, accept: Callable[[str], bool], seconds: float = 60.0) -> str:
        """The next line that `accept` takes."""
        deadline = time.monotonic() + seconds
        while True:
            try:
                line = self._lines.get(timeout=max(0.0, deadline - time.monotonic()))
            except queue.Empty:
                pytest.fail(f"no such line in {seconds} s: {self.output}")
            if line is None:
                pytest.fail(f"it ended before such a line: {self.output}")
            self.output.append(line)
            if accept(line):
                return line

    def record(self, key: str, accept: Callable[[Any], bool] = lambda value: True) -> Any:
        """The value of the next JSON line that has `key`, and whose value `accept` takes."""

        def matches(line: str) -> bool:
            return line.startswith(f'{{"{key}"') and accept(json.loads(line)[key])

        return json.loads(self.line(matches))[key]

    def pids_of(self, *names: str) -> dict[str, int]:
        """Process ids once children of all these names run."""
        return self.record("pids", lambda pids: set(names) <= set(pids))

    def descendants(self) -> set[int]:
        return {process.pid for process in processes.tree(self.pid)} - {self.pid}

    def end(self, number: int, seconds: float = 60.0) -> int:
        """Signal it, and the status it ends with."""
        self.process.send_signal(number)
        return self.process.wait(seconds)


@pytest.fixture
def running() -> Iterator[Callable[..., Running]]:
    """Starts programs; whatever of them is left at the end of the test is killed."""
    started: list[Running] = []

    def start(*arguments: str, env: dict[str, str] | None = None) -> Running:
        started.append(Running(*arguments, env=env))
        return started[-1]

    yield start
    for program in started:
        left = {program.pid, *program.descendants()}
        for pid in left:
            if processes.alive(pid):
                os.kill(pid, signal.SIGKILL)
        program.process.wait(60)


@pytest.fixture
def supervise(running: Callable[..., Running]) -> Callable[..., Running]:
    """Starts a supervisor over stand-in children; see supervise.py."""

    def start(*stages: dict[str, str], **plan: Any) -> Running:
        script = Path(__file__).with_name("supervise.py")
        return running(str(script), json.dumps({"stages": stages, **plan}))

    return start


@pytest.fixture
def eventually() -> Callable[..., Any]:
    """`eventually(done, seconds)`: waits for the first true value of `done()`."""
    return wait_until


@pytest.fixture
def all_gone() -> Callable[[set[int]], None]:
    """`all_gone(pids)`: waits until none of these processes runs."""

    def check(pids: set[int]) -> None:
        wait_until(lambda: not any(processes.alive(pid) for pid in pids))

    return check
