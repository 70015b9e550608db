"""When servers start and end, and that nothing outlives those who need it."""

import os
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path

import psutil
import pytest

from tests.engines.sandbox.calls import KINDS, Calls
from tests.engines.sandbox.conftest import LockedFile, MakeServer
from tests.factories.processes import has_ended, send_signal
from tests.factories.sandboxes import (
    kill,
    list_fork_servers,
    list_launchers,
    list_sandboxed_processes,
)
from tests.factories.waiting import wait_until

ROOT = Path(__file__).resolve().parents[3]
ANSWER = [(b"A", b"{}")]
OWNER = """
import signal, sys
from tests.engines.sandbox.calls import KINDS, LIMITS, NOTHING, Calls, ENTRIES
from app.engines.sandbox.client import ForkServer
server = ForkServer((ENTRIES,), max_processes=2, max_total_processes=9, idle_seconds=None)
options = {"document": NOTHING.open("rb"), "arguments": {"how": "hang"}, "limits": LIMITS}
process = server.run(f"{ENTRIES}:misbehave", **options)
print(*next(process.iterate_frames(KINDS)), flush=True)
signal.pause()
"""


@contextmanager
def forked(run: Callable[[], object]) -> Iterator[int]:
    """A fork of this process that calls `run` and ends; killed at the end at the latest."""
    pid = os.fork()
    if pid == 0:
        status = 1
        try:
            status = 0 if run() else 2
        finally:
            os._exit(status)
    try:
        yield pid
    finally:
        with suppress(ProcessLookupError, ChildProcessError):
            os.kill(pid, signal.SIGKILL)
            os.waitpid(pid, 0)


def test_an_idle_server_ends_and_comes_back(make_server: MakeServer) -> None:
    calls = Calls(make_server(idle_seconds=0.2))
    assert calls.run("echo") == ANSWER
    before = list_launchers()
    for _ in range(3):
        wait_until(lambda: not list_fork_servers(), "the end of the idle server")
        assert calls.run("echo") == ANSWER
    assert list_launchers() == before


def test_a_server_on_demand_starts_with_the_first_call(make_server: MakeServer) -> None:
    server = make_server()
    server.start(idle_seconds=0.2)
    # Until the child executes its program, it has the name of this process.
    wait_until(lambda: len(list_launchers()) == 1, "the launcher")
    (launcher,) = list_launchers()
    wait_until(lambda: launcher.status() == psutil.STATUS_SLEEPING, "the launcher to wait")
    assert list_fork_servers() == []
    assert Calls(server).run("echo") == ANSWER
    wait_until(lambda: not list_fork_servers(), "the end of the idle server")
    server.start(idle_seconds=0.2)
    assert list_launchers() == [launcher]


def test_a_server_that_was_started_stays(make_server: MakeServer) -> None:
    server = make_server(idle_seconds=0.05)
    server.start(nice=3)
    assert Calls(server).run("echo") == ANSWER
    (first,) = list_fork_servers()
    assert first.nice() == psutil.Process().nice() + 3
    other = Calls(make_server(idle_seconds=0.05))
    assert other.run("echo") == ANSWER
    wait_until(lambda: len(list_fork_servers()) == 1, "the end of the idle server")
    assert list_fork_servers() == [first]


def test_start_is_idempotent_and_replaces_what_has_ended(make_server: MakeServer) -> None:
    server = make_server()
    for _ in range(3):
        server.start()
    wait_until(list_fork_servers, "the start of the server")
    (launcher,), (first,) = list_launchers(), list_fork_servers()
    kill(launcher)
    wait_until(lambda: has_ended(first), "the end of the server")
    server.start()
    server.start()
    wait_until(list_fork_servers, "the start of the server")
    assert len(list_launchers()) == 1


def test_stop_ends_everything(calls: Calls) -> None:
    with ExitStack() as stack:
        process = calls.open("misbehave", how="hang", stack=stack)
        assert next(process.iterate_frames(KINDS)) == (b"T", b"before")
        all_of_it = [*list_launchers(), *list_fork_servers(), *list_sandboxed_processes()]
        assert len(all_of_it) == 3
        calls.server.stop()
        for one in all_of_it:
            wait_until(lambda gone=one: has_ended(gone), "the end of everything")
    calls.server.stop()
    assert calls.run("echo") == ANSWER


def test_nothing_outlives_an_owner_that_is_killed() -> None:
    owner = subprocess.Popen(
        [sys.executable, "-c", OWNER], cwd=ROOT, stdout=subprocess.PIPE, text=True
    )
    try:
        assert owner.stdout is not None
        assert owner.stdout.readline() == "b'T' b'before'\n"
        all_of_it = [
            *list_launchers(owner.pid),
            *list_fork_servers(owner.pid),
            *list_sandboxed_processes(owner.pid),
        ]
        assert len(all_of_it) == 3
    finally:
        owner.kill()
        owner.communicate()
    for one in all_of_it:
        wait_until(lambda gone=one: has_ended(gone), "the end of everything")


def test_forked_processes_share_the_server(calls: Calls) -> None:
    calls.server.start()
    with forked(lambda: calls.run("echo") == ANSWER and not list_launchers()) as pid:
        assert os.waitpid(pid, 0)[1] == 0
    assert len(list_launchers()) == 1
    assert calls.run("echo") == ANSWER


def test_a_forked_process_whose_server_is_gone_starts_its_own(calls: Calls) -> None:
    calls.run("echo")
    (launcher,) = list_launchers()
    kill(launcher)
    with forked(lambda: calls.run("echo") == ANSWER and len(list_launchers()) == 1) as pid:
        assert os.waitpid(pid, 0)[1] == 0


def test_a_forked_caller_that_is_killed_takes_its_process_along(calls: Calls) -> None:
    calls.run("echo")
    (server,) = list_fork_servers()

    def hang() -> None:
        calls.run("misbehave", how="hang")

    with forked(hang):
        wait_until(list_sandboxed_processes, "the start of the process")
        (child,) = list_sandboxed_processes()
    wait_until(lambda: has_ended(child), "the end of the process")
    assert calls.run("echo") == ANSWER
    assert list_fork_servers() == [server]


def test_a_server_outlives_the_thread_that_started_it(calls: Calls) -> None:
    """The kernel's signal on the death of a parent follows its thread."""
    thread = threading.Thread(target=calls.run, args=("echo",))
    thread.start()
    thread.join()
    (launcher,) = list_launchers()
    assert calls.run("echo") == ANSWER
    assert list_launchers() == [launcher]


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP])
def test_polite_signals_change_nothing(
    calls: Calls, locked: LockedFile, number: signal.Signals
) -> None:
    """A service manager sends them to every process, while workers still finish their jobs."""
    with ThreadPoolExecutor(1) as pool:
        result = pool.submit(calls.run, "wait_for_lock", document=locked.path, early=False)
        wait_until(list_sandboxed_processes, "the start of the process")
        for process in [*list_launchers(), *list_fork_servers(), *list_sandboxed_processes()]:
            send_signal(process, number)
        locked.unlock()
        assert result.result(60) == [(b"T", b"content")]
