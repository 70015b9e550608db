"""When servers start, end and are replaced, and that nothing outlives those who need it."""

import fcntl
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

from app.engines.sandbox import ForkServer, SandboxUnavailable, client
from tests.engines.sandbox.calls import KINDS, LIMITS, Calls
from tests.engines.sandbox.conftest import MakeServer
from tests.factories.processes import ended, send
from tests.factories.sandboxes import launchers, sandboxed, servers, wait_until

ROOT = Path(__file__).resolve().parents[3]
ANSWER = [(b"A", b"{}")]
OWNER = """
import signal, sys
from tests.engines.sandbox.calls import KINDS, LIMITS, Calls, ENTRIES
from app.engines.sandbox import ForkServer
server = ForkServer((ENTRIES,), max_processes=2, max_processes_in_all=9, idle_seconds=None)
given = {"document": None, "arguments": {"how": "hang"}, "limits": LIMITS}
process = server.run(f"{ENTRIES}:misbehave", **given)
print(*next(process.frames(KINDS)), flush=True)
signal.pause()
"""


class Locked:
    """A document that is locked: `wait_for_lock` waits until it is not."""

    def __init__(self, path: Path) -> None:
        path.write_bytes(b"content")
        self.path = path
        self._file = path.open("r+b")
        fcntl.lockf(self._file, fcntl.LOCK_EX)

    def unlock(self) -> None:
        self._file.close()


@pytest.fixture
def locked(tmp_path: Path) -> Iterator[Locked]:
    found = Locked(tmp_path / "locked")
    yield found
    found.unlock()


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


def kill(process: psutil.Process) -> None:
    send(process, signal.SIGKILL)
    wait_until(lambda: ended(process), "the end of a killed process")


def test_a_server_killed_between_calls_is_replaced(calls: Calls) -> None:
    assert calls.run("echo") == ANSWER
    (server,) = servers()
    kill(server)
    assert calls.run("echo") == ANSWER
    assert servers() != [server]
    assert len(launchers()) == 1


def test_a_launcher_killed_between_calls_is_replaced(calls: Calls) -> None:
    assert calls.run("echo") == ANSWER
    (launcher,), (server,) = launchers(), servers()
    kill(launcher)
    wait_until(lambda: ended(server), "the end of the server")
    assert calls.run("echo") == ANSWER
    assert len(launchers()) == len(servers()) == 1


@pytest.mark.parametrize("find", [servers, launchers])
def test_a_call_starts_again_when_its_server_dies_before_the_first_frame(
    calls: Calls, locked: Locked, find: Callable[[], list[psutil.Process]]
) -> None:
    with ThreadPoolExecutor(1) as pool:
        result = pool.submit(calls.run, "wait_for_lock", document=locked.path, early=False)
        wait_until(sandboxed, "the start of the process")
        first = sandboxed()[0]
        kill(find()[0])
        wait_until(lambda: ended(first), "the end of the process")
        wait_until(sandboxed, "the start of another process")
        locked.unlock()
        assert result.result(60) == [(b"T", b"content")]


def test_a_call_fails_when_its_server_dies_after_the_first_frame(
    calls: Calls, locked: Locked
) -> None:
    with ExitStack() as stack:
        process = calls.open("wait_for_lock", document=locked.path, early=True, stack=stack)
        frames = process.frames(KINDS)
        assert next(frames) == (b"T", b"early")
        kill(servers()[0])
        with pytest.raises(SandboxUnavailable):
            next(frames)
    assert calls.run("echo") == ANSWER


def test_a_call_whose_server_dies_again_and_again_fails(calls: Calls, locked: Locked) -> None:
    with ThreadPoolExecutor(1) as pool:
        result = pool.submit(calls.run, "wait_for_lock", document=locked.path, early=False)
        for _ in range(3):
            wait_until(sandboxed, "the start of the process")
            child = sandboxed()[0]
            kill(servers()[0])
            wait_until(lambda gone=child: ended(gone), "the end of the process")
        with pytest.raises(SandboxUnavailable):
            result.result(60)
    assert calls.run("echo") == ANSWER


def test_a_crash_replaces_the_server(calls: Calls) -> None:
    """The next process has another layout of memory: nobody finds it out by trying."""
    calls.run("echo")
    (first,) = servers()
    assert calls.fail("segfault").detail == "SIGSEGV"
    wait_until(lambda: ended(first), "the end of the server")
    assert calls.run("echo") == ANSWER
    second = servers()
    assert calls.fail("exit").detail == "exit status 3"  # which is none
    assert calls.run("echo") == ANSWER
    assert servers() == second


def test_signals_that_the_owner_blocks_are_not_blocked_in_the_server(calls: Calls) -> None:
    blocked = {signal.SIGCHLD, signal.SIGUSR1}
    before = signal.pthread_sigmask(signal.SIG_BLOCK, blocked)
    try:
        calls.server.start()
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
    test_a_crash_replaces_the_server(calls)


def test_servers_are_replaced_without_a_failed_call(make_server: MakeServer) -> None:
    calls = Calls(make_server(max_processes_in_all=20))
    seen = set()

    def call(_: int) -> object:
        result = calls.run("echo")
        seen.update(server.pid for server in servers())
        return result

    with ThreadPoolExecutor(3) as pool:
        assert all(result == ANSWER for result in pool.map(call, range(150)))
        wait_until(lambda: call(0) == ANSWER and len(seen) > 2, "the third server")
    wait_until(lambda: len(servers()) == 1, "the end of the servers before")
    assert len(launchers()) == 1


def test_a_long_call_ends_well_on_a_server_that_was_replaced(
    make_server: MakeServer, locked: Locked
) -> None:
    calls = Calls(make_server(max_processes_in_all=2))
    with ThreadPoolExecutor(1) as pool:
        long = pool.submit(calls.run, "wait_for_lock", document=locked.path, early=False)
        wait_until(sandboxed, "the start of the process")
        (first,) = servers()
        wait_until(lambda: calls.run("echo") == ANSWER and len(servers()) > 1, "the successor")
        assert first in servers()
        locked.unlock()
        assert long.result(60) == [(b"T", b"content")]
    wait_until(lambda: ended(first), "the end of the first server")


def test_an_idle_server_ends_and_comes_back(make_server: MakeServer) -> None:
    calls = Calls(make_server(idle_seconds=0.2))
    assert calls.run("echo") == ANSWER
    before = launchers()
    for _ in range(3):
        wait_until(lambda: not servers(), "the end of the idle server")
        assert calls.run("echo") == ANSWER
    assert launchers() == before


def test_a_server_on_demand_starts_with_the_first_call(make_server: MakeServer) -> None:
    server = make_server()
    server.start(idle_seconds=0.2)
    (launcher,) = launchers()
    wait_until(lambda: launcher.status() == psutil.STATUS_SLEEPING, "the launcher to wait")
    assert servers() == []
    assert Calls(server).run("echo") == ANSWER
    wait_until(lambda: not servers(), "the end of the idle server")
    server.start(idle_seconds=0.2)
    assert launchers() == [launcher]


def test_no_call_is_lost_while_servers_end_and_come_back(make_server: MakeServer) -> None:
    calls = Calls(make_server(idle_seconds=0.001, max_processes_in_all=5))
    with ThreadPoolExecutor(2) as pool:
        results = list(pool.map(lambda _: calls.run("echo"), range(40)))
    assert results == [ANSWER] * 40
    assert len(launchers()) == 1


def test_a_server_that_was_started_stays(make_server: MakeServer) -> None:
    server = make_server(idle_seconds=0.05)
    server.start(nice=3)
    assert Calls(server).run("echo") == ANSWER
    (first,) = servers()
    assert first.nice() == psutil.Process().nice() + 3
    other = Calls(make_server(idle_seconds=0.05))
    assert other.run("echo") == ANSWER
    wait_until(lambda: len(servers()) == 1, "the end of the idle server")
    assert servers() == [first]


def test_start_is_idempotent_and_replaces_what_has_ended(make_server: MakeServer) -> None:
    server = make_server()
    for _ in range(3):
        server.start()
    wait_until(servers, "the start of the server")
    (launcher,), (first,) = launchers(), servers()
    kill(launcher)
    wait_until(lambda: ended(first), "the end of the server")
    server.start()
    server.start()
    wait_until(servers, "the start of the server")
    assert len(launchers()) == 1


def test_stop_ends_everything(calls: Calls) -> None:
    with ExitStack() as stack:
        process = calls.open("misbehave", how="hang", stack=stack)
        assert next(process.frames(KINDS)) == (b"T", b"before")
        all_of_it = [*launchers(), *servers(), *sandboxed()]
        assert len(all_of_it) == 3
        calls.server.stop()
        for one in all_of_it:
            wait_until(lambda gone=one: ended(gone), "the end of everything")
    calls.server.stop()
    assert calls.run("echo") == ANSWER


def test_nothing_outlives_an_owner_that_is_killed() -> None:
    owner = subprocess.Popen(
        [sys.executable, "-c", OWNER], cwd=ROOT, stdout=subprocess.PIPE, text=True
    )
    try:
        assert owner.stdout is not None
        assert owner.stdout.readline() == "b'T' b'before'\n"
        all_of_it = [*launchers(owner.pid), *servers(owner.pid), *sandboxed(owner.pid)]
        assert len(all_of_it) == 3
    finally:
        owner.kill()
        owner.communicate()
    for one in all_of_it:
        wait_until(lambda gone=one: ended(gone), "the end of everything")


def test_forked_processes_share_the_server(calls: Calls) -> None:
    calls.server.start()
    with forked(lambda: calls.run("echo") == ANSWER and not launchers()) as pid:
        assert os.waitpid(pid, 0)[1] == 0
    assert len(launchers()) == 1
    assert calls.run("echo") == ANSWER


def test_a_forked_process_whose_server_is_gone_starts_its_own(calls: Calls) -> None:
    calls.run("echo")
    (launcher,) = launchers()
    kill(launcher)
    with forked(lambda: calls.run("echo") == ANSWER and len(launchers()) == 1) as pid:
        assert os.waitpid(pid, 0)[1] == 0


def test_a_forked_caller_that_is_killed_takes_its_process_along(calls: Calls) -> None:
    calls.run("echo")
    (server,) = servers()

    def hang() -> None:
        calls.run("misbehave", how="hang")

    with forked(hang):
        wait_until(sandboxed, "the start of the process")
        (child,) = sandboxed()
    wait_until(lambda: ended(child), "the end of the process")
    assert calls.run("echo") == ANSWER
    assert servers() == [server]


def test_a_server_outlives_the_thread_that_started_it(calls: Calls) -> None:
    """The kernel's signal on the death of a parent follows its thread."""
    thread = threading.Thread(target=calls.run, args=("echo",))
    thread.start()
    thread.join()
    (launcher,) = launchers()
    assert calls.run("echo") == ANSWER
    assert launchers() == [launcher]


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP])
def test_polite_signals_change_nothing(
    calls: Calls, locked: Locked, number: signal.Signals
) -> None:
    """A service manager sends them to every process, while workers still finish their jobs."""
    with ThreadPoolExecutor(1) as pool:
        result = pool.submit(calls.run, "wait_for_lock", document=locked.path, early=False)
        wait_until(sandboxed, "the start of the process")
        for process in [*launchers(), *servers(), *sandboxed()]:
            send(process, number)
        locked.unlock()
        assert result.result(60) == [(b"T", b"content")]


def test_a_server_that_cannot_start(
    make_server: MakeServer, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(client, "_START_SECONDS", 2.0)
    server = make_server(preload=("no.such.module",))
    with pytest.raises(SandboxUnavailable):
        server.run("no.such.module:f", document=None, arguments={}, limits=LIMITS)
    assert "ModuleNotFoundError" in capfd.readouterr().err


def test_a_long_queue_without_a_server_blocks_nobody(
    make_server: MakeServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(client, "_START_SECONDS", 1.0)
    server: ForkServer = make_server(preload=("no.such.module",))

    def call(_: int) -> bool:
        with pytest.raises(SandboxUnavailable):
            server.run("x:y", document=None, arguments={"fill": "x" * 50_000}, limits=LIMITS)
        return True

    with ThreadPoolExecutor(16) as pool:
        assert all(pool.map(call, range(32)))


def test_calls_that_were_given_up_while_they_waited_leave_no_process(calls: Calls) -> None:
    calls.server.start()
    wait_until(servers, "the start of the server")
    (server,) = servers()
    server.suspend()
    try:
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(client, "_START_SECONDS", 0.3)
            with pytest.raises(SandboxUnavailable):
                calls.run("misbehave", how="hang")
    finally:
        server.resume()
    assert calls.run("echo") == ANSWER
    assert not sandboxed()
