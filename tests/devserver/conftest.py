"""Start programs in processes, and read their output."""

import json
import os
import queue
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import psycopg2
import pytest

from devserver import processes
from tests.factories.waiting import wait_until

ROOT = Path(__file__).parents[2]
STARTS_AND_WAITS = """
import sys, time
from pathlib import Path
from devserver.postgres import EmbeddedPostgres
from devserver.valkey import EmbeddedValkey
data = Path(sys.argv[1])
server = {server}
server.start()
print("pid", server.pid, flush=True)
time.sleep(600)
"""


class RunningProgram:
    """A running Python program; a thread reads its output."""

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
        """Return the next line for which `accept` returns true."""
        deadline = time.monotonic() + seconds
        while True:
            try:
                line = self._lines.get(timeout=max(0.0, deadline - time.monotonic()))
            except queue.Empty:
                pytest.fail(f"no accepted line in {seconds} s: {self.output}")
            if line is None:
                pytest.fail(f"the program ended before an accepted line: {self.output}")
            self.output.append(line)
            if accept(line):
                return line

    def record(self, key: str, accept: Callable[[Any], bool] = lambda value: True) -> Any:
        """Return the value of the next JSON line with `key` whose value `accept` accepts."""

        def matches(line: str) -> bool:
            return line.startswith(f'{{"{key}"') and accept(json.loads(line)[key])

        return json.loads(self.line(matches))[key]

    def pids_of(self, *names: str) -> dict[str, int]:
        """Return the process ids by name, once children with all these names are running."""
        return self.record("pids", lambda pids: set(names) <= set(pids))

    def descendants(self) -> set[int]:
        return {process.pid for process in processes.list_tree(self.pid)} - {self.pid}

    def end(self, number: int, seconds: float = 60.0) -> int:
        """Send a signal to the program, wait for its end, and return the exit status."""
        self.process.send_signal(number)
        return self.process.wait(seconds)


@pytest.fixture
def running() -> Iterator[Callable[..., RunningProgram]]:
    """Return a function that starts programs; their processes are killed after the test."""
    started: list[RunningProgram] = []

    def start(*arguments: str, env: dict[str, str] | None = None) -> RunningProgram:
        started.append(RunningProgram(*arguments, env=env))
        return started[-1]

    yield start
    kill_all(started)


def kill_all(programs: list[RunningProgram]) -> None:
    """Kill all processes of the programs and their descendants that are still running."""
    for program in programs:
        for pid in {program.pid, *program.descendants()}:
            if processes.is_running(pid):
                os.kill(pid, signal.SIGKILL)
        program.process.wait(60)


@pytest.fixture
def supervise(running: Callable[..., RunningProgram]) -> Callable[..., RunningProgram]:
    """Return a function that starts a supervisor with stub children; see supervise.py."""

    def start(*stages: dict[str, str], **plan: Any) -> RunningProgram:
        script = Path(__file__).with_name("supervise.py")
        return running(str(script), json.dumps({"stages": stages, **plan}))

    return start


def run_devserver(
    *arguments: object, cwd: Path = ROOT, **environ: str
) -> "subprocess.CompletedProcess[str]":
    """Run a command of `python -m devserver`, and return its status and output."""
    return subprocess.run(
        [sys.executable, "-m", "devserver", *map(str, arguments)],
        cwd=cwd,
        env={"PATH": os.environ["PATH"], **environ},
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )


def wait_for_end(pids: set[int]) -> None:
    """Wait until none of the processes is running."""
    wait_until(lambda: not any(processes.is_running(pid) for pid in pids))


def check_end_with_starter(running: Callable[..., RunningProgram], server: str, data: Path) -> None:
    """Kill a program that has started a server, and wait until the server has ended, too.

    `server` is a Python expression that creates the server in the folder `data`.
    """
    program = STARTS_AND_WAITS.format(server=server)
    starter = running("-c", program, str(data))
    pid = int(starter.line(lambda line: line.startswith("pid")).split()[1])
    starter.end(signal.SIGKILL)
    wait_for_end({pid})


def query(url: str, *statements: str) -> list[tuple[Any, ...]]:
    """Run statements in one transaction, and return the rows of the last one."""
    with closing(psycopg2.connect(url)) as connection, connection, connection.cursor() as cursor:
        for statement in statements:
            cursor.execute(statement)
        return cursor.fetchall() if cursor.description else []


def query_alone(url: str, *statements: str) -> list[tuple[Any, ...]]:
    """Run statements in one session without a transaction, and return the rows of the last one."""
    with closing(psycopg2.connect(url)) as connection, connection.cursor() as cursor:
        connection.autocommit = True
        for statement in statements:
            cursor.execute(statement)
        return cursor.fetchall() if cursor.description else []
