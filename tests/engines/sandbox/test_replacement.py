"""Servers that die, crash or have worked long enough are replaced, and no call notices."""

import signal
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack

import psutil
import pytest

from app.engines.sandbox import client
from app.engines.sandbox.client import ForkServer
from app.engines.sandbox.model import SandboxUnavailable
from tests.engines.sandbox.calls import KINDS, LIMITS, NOTHING, Calls
from tests.engines.sandbox.conftest import LockedFile, MakeServer
from tests.factories.processes import has_ended
from tests.factories.sandboxes import (
    kill,
    list_fork_servers,
    list_launchers,
    list_sandboxed_processes,
)
from tests.factories.waiting import wait_until

ANSWER = [(b"A", b"{}")]


def test_a_server_killed_between_calls_is_replaced(calls: Calls) -> None:
    assert calls.run("echo") == ANSWER
    (server,) = list_fork_servers()
    kill(server)
    assert calls.run("echo") == ANSWER
    assert list_fork_servers() != [server]
    assert len(list_launchers()) == 1


def test_a_launcher_killed_between_calls_is_replaced(calls: Calls) -> None:
    assert calls.run("echo") == ANSWER
    (launcher,), (server,) = list_launchers(), list_fork_servers()
    kill(launcher)
    wait_until(lambda: has_ended(server), "the end of the server")
    assert calls.run("echo") == ANSWER
    assert len(list_launchers()) == len(list_fork_servers()) == 1


def test_a_replaced_launcher_keeps_the_options_of_the_start(make_server: MakeServer) -> None:
    server = make_server()
    server.start(nice=3)
    calls = Calls(server)
    assert calls.run("echo") == ANSWER
    (launcher,), (first,) = list_launchers(), list_fork_servers()
    kill(launcher)
    wait_until(lambda: has_ended(first), "the end of the server")
    assert calls.run("echo") == ANSWER
    assert [process.nice() for process in list_fork_servers()] == [3]


@pytest.mark.parametrize("find", [list_fork_servers, list_launchers])
def test_a_call_starts_again_when_its_server_dies_before_the_first_frame(
    calls: Calls, locked: LockedFile, find: Callable[[], list[psutil.Process]]
) -> None:
    with ThreadPoolExecutor(1) as pool:
        result = pool.submit(calls.run, "wait_for_lock", document=locked.path, early=False)
        wait_until(list_sandboxed_processes, "the start of the process")
        first = list_sandboxed_processes()[0]
        kill(find()[0])
        wait_until(lambda: has_ended(first), "the end of the process")
        wait_until(list_sandboxed_processes, "the start of another process")
        locked.unlock()
        assert result.result(60) == [(b"T", b"content")]


def test_a_call_fails_when_its_server_dies_after_the_first_frame(
    calls: Calls, locked: LockedFile
) -> None:
    with ExitStack() as stack:
        process = calls.open("wait_for_lock", document=locked.path, early=True, stack=stack)
        frames = process.iterate_frames(KINDS)
        assert next(frames) == (b"T", b"early")
        kill(list_fork_servers()[0])
        with pytest.raises(SandboxUnavailable):
            next(frames)
    assert calls.run("echo") == ANSWER


def test_a_call_whose_server_dies_again_and_again_fails(calls: Calls, locked: LockedFile) -> None:
    kill_count = 0
    with ThreadPoolExecutor(1) as pool:
        result = pool.submit(calls.run, "wait_for_lock", document=locked.path, early=False)
        while True:
            wait_until(lambda: result.done() or list_sandboxed_processes(), "a process or the end")
            if result.done():
                break
            child = list_sandboxed_processes()[0]
            kill(list_fork_servers()[0])
            kill_count += 1
            wait_until(lambda gone=child: has_ended(gone), "the end of the process")
        with pytest.raises(SandboxUnavailable):
            result.result()
    # A kill before the process reported its start does not count as an attempt of the call.
    assert kill_count >= 3
    assert calls.run("echo") == ANSWER


def test_a_crash_replaces_the_server(calls: Calls) -> None:
    """The next process has another layout of memory: nobody finds it out by trying."""
    calls.run("echo")
    (first,) = list_fork_servers()
    assert calls.fail("segfault").detail == "SIGSEGV"
    wait_until(lambda: has_ended(first), "the end of the server")
    assert calls.run("echo") == ANSWER
    second = list_fork_servers()
    assert calls.fail("exit").detail == "exit status 3"  # which is none
    assert calls.run("echo") == ANSWER
    assert list_fork_servers() == second


def test_signals_that_the_owner_blocks_are_not_blocked_in_the_server(calls: Calls) -> None:
    blocked = {signal.SIGCHLD, signal.SIGUSR1}
    before = signal.pthread_sigmask(signal.SIG_BLOCK, blocked)
    try:
        calls.server.start()
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
    test_a_crash_replaces_the_server(calls)


def test_servers_are_replaced_without_a_failed_call(make_server: MakeServer) -> None:
    calls = Calls(make_server(max_total_processes=20))
    seen = set()

    def call(_: int) -> object:
        result = calls.run("echo")
        seen.update(server.pid for server in list_fork_servers())
        return result

    with ThreadPoolExecutor(3) as pool:
        assert all(result == ANSWER for result in pool.map(call, range(150)))
        wait_until(lambda: call(0) == ANSWER and len(seen) > 2, "the third server")
    wait_until(lambda: len(list_fork_servers()) == 1, "the end of the servers before")
    assert len(list_launchers()) == 1


def test_a_long_call_ends_well_on_a_server_that_was_replaced(
    make_server: MakeServer, locked: LockedFile
) -> None:
    calls = Calls(make_server(max_total_processes=2))
    with ThreadPoolExecutor(1) as pool:
        long = pool.submit(calls.run, "wait_for_lock", document=locked.path, early=False)
        wait_until(list_sandboxed_processes, "the start of the process")
        (first,) = list_fork_servers()
        wait_until(
            lambda: calls.run("echo") == ANSWER and len(list_fork_servers()) > 1, "the successor"
        )
        assert first in list_fork_servers()
        locked.unlock()
        assert long.result(60) == [(b"T", b"content")]
    wait_until(lambda: has_ended(first), "the end of the first server")


def test_no_call_is_lost_while_servers_end_and_come_back(make_server: MakeServer) -> None:
    calls = Calls(make_server(idle_seconds=0.001, max_total_processes=5))
    with ThreadPoolExecutor(2) as pool:
        results = list(pool.map(lambda _: calls.run("echo"), range(40)))
    assert results == [ANSWER] * 40
    assert len(list_launchers()) == 1


def test_a_server_that_cannot_start(
    make_server: MakeServer, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(client, "_START_SECONDS", 2.0)
    server = make_server(preload=("no.such.module",))
    with NOTHING.open("rb") as file, pytest.raises(SandboxUnavailable):
        server.run("no.such.module:f", document=file, arguments={}, limits=LIMITS)
    assert "ModuleNotFoundError" in capfd.readouterr().err


def test_a_long_queue_without_a_server_blocks_nobody(
    make_server: MakeServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(client, "_START_SECONDS", 1.0)
    server: ForkServer = make_server(preload=("no.such.module",))

    def call(_: int) -> bool:
        with NOTHING.open("rb") as file, pytest.raises(SandboxUnavailable):
            server.run("x:y", document=file, arguments={"fill": "x" * 50_000}, limits=LIMITS)
        return True

    with ThreadPoolExecutor(16) as pool:
        assert all(pool.map(call, range(32)))


def test_calls_that_were_given_up_while_they_waited_leave_no_process(calls: Calls) -> None:
    calls.server.start()
    wait_until(list_fork_servers, "the start of the server")
    (server,) = list_fork_servers()
    server.suspend()
    try:
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(client, "_START_SECONDS", 0.3)
            with pytest.raises(SandboxUnavailable):
                calls.run("misbehave", how="hang")
    finally:
        server.resume()
    assert calls.run("echo") == ANSWER
    assert not list_sandboxed_processes()
