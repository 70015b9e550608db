"""A process that fails costs its own call, and nothing else."""

import gc
import os
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path

import psutil
import pytest

from app.engines.sandbox.model import ProcessFailed
from tests.engines.sandbox.calls import KINDS, LIMITS, NOTHING, Calls
from tests.engines.sandbox.conftest import MakeServer
from tests.factories.processes import has_ended
from tests.factories.sandboxes import list_fork_servers, list_sandboxed_processes
from tests.factories.waiting import wait_until


def test_frames_arrive_in_order_and_complete(calls: Calls, tmp_path: Path) -> None:
    document = tmp_path / "document"
    document.write_bytes(b"content")
    assert calls.run("echo", document=document, number=1) == [
        (b"A", b'{"number": 1}'),
        (b"T", b"content"),
    ]
    assert calls.run("echo") == [(b"A", b"{}")]
    assert not list_sandboxed_processes()


@pytest.mark.parametrize(
    ("how", "reason", "detail"),
    [
        ("exit", "crashed", "exit status 3"),
        ("exit in good order", "crashed", "exit status 70"),
        ("abort", "crashed", "SIGABRT"),
        ("segfault", "crashed", "SIGSEGV"),
        ("raise", "crashed", "exit status 70"),
        ("half a header", "crashed", "exit status 0"),
        ("half a frame", "crashed", "exit status 0"),
        ("leave and hang", "crashed", "SIGKILL"),
        ("garbage", "protocol", ""),
        ("endless frame", "protocol", ""),
        ("unknown type", "protocol", ""),
    ],
)
def test_a_process_that_misbehaves_fails_its_call_only(
    calls: Calls, how: str, reason: str, detail: str
) -> None:
    failure = calls.fail(how)
    assert (failure.reason, failure.detail) == (reason, detail)
    assert not list_sandboxed_processes()
    assert calls.run("echo", left=1) == [(b"A", b'{"left": 1}')]


def test_what_came_before_the_end_is_not_lost(calls: Calls) -> None:
    with ExitStack() as stack:
        frames = calls.open("misbehave", how="abort", stack=stack).iterate_frames(KINDS)
        wait_until(lambda: not list_sandboxed_processes(), "the end of the process")
        assert next(frames) == (b"T", b"before")
        with pytest.raises(ProcessFailed):
            next(frames)


def test_the_deadline_kills(calls: Calls) -> None:
    failure = calls.fail("hang", limits=replace(LIMITS, wall_seconds=0.3))
    assert failure.reason == "wall_time"
    assert not list_sandboxed_processes()


def test_each_call_has_its_own_limits(calls: Calls) -> None:
    assert calls.fail("spin", limits=replace(LIMITS, cpu_seconds=1)).reason == "cpu_time"
    small = replace(LIMITS, memory_bytes=300 << 20)
    assert calls.fail("allocate", limits=small).reason == "memory"
    large = calls.probe(limits=replace(LIMITS, memory_bytes=2 << 30, cpu_seconds=90))["limits"]
    assert (large["AS"], large["CPU"]) == ([2 << 30, 2 << 30], [90, 91])


def test_a_huge_result_arrives_and_a_huge_frame_does_not(calls: Calls) -> None:
    frames = calls.run("count", count=300, size=1 << 20)
    assert {(kind, len(payload)) for kind, payload in frames} == {(b"T", 1 << 20)}
    assert len(frames) == 300
    with pytest.raises(ProcessFailed) as caught:
        calls.run("count", count=1, size=1025, limits=replace(LIMITS, frame_bytes=1024))
    assert caught.value.reason == "protocol"


def test_an_unknown_entry_is_refused(calls: Calls) -> None:
    for name in ("os:abort", "tests.engines.sandbox.entries:nothing"):
        with NOTHING.open("rb") as file:
            process = calls.server.run(name, document=file, arguments={}, limits=LIMITS)
            with process, pytest.raises(ProcessFailed) as caught:
                list(process.iterate_frames(KINDS))
        assert caught.value.detail == "exit status 70"


def test_a_request_that_is_too_long_is_refused(calls: Calls) -> None:
    with pytest.raises(ValueError, match="60000 bytes"):
        calls.run("echo", much="x" * 60_000)


def test_threads_call_at_once_and_get_their_own_results(calls: Calls, tmp_path: Path) -> None:
    def call(number: int) -> bool:
        document = tmp_path / str(number)
        document.write_text(f"document {number}")
        expected = [(b"A", b'{"n": %d}' % number), (b"T", b"document %d" % number)]
        return calls.run("echo", document=document, n=number) == expected

    with ThreadPoolExecutor(6) as pool:
        assert all(pool.map(call, range(120)))
    assert len(list_fork_servers()) == 1


def test_at_most_so_many_processes_run_at_once(make_server: MakeServer) -> None:
    calls = Calls(make_server(max_processes=2))
    with ExitStack() as stack, ThreadPoolExecutor(3) as pool:
        running = [calls.open("misbehave", how="hang", stack=stack) for _ in range(2)]
        waiting = [pool.submit(calls.run, "echo", n=n) for n in range(3)]
        for process in running:
            assert next(process.iterate_frames(KINDS)) == (b"T", b"before")
        assert len(list_sandboxed_processes()) == 2
        assert not any(future.done() for future in waiting)
        running[0].__exit__(None, None, None)
        assert [future.result(60) for future in waiting] == [
            [(b"A", b'{"n": %d}' % n)] for n in range(3)
        ]


def test_a_caller_that_gives_up_ends_the_process(calls: Calls) -> None:
    with ExitStack() as stack:
        process = calls.open("misbehave", how="hang", stack=stack)
        assert next(process.iterate_frames(KINDS)) == (b"T", b"before")
        (child,) = list_sandboxed_processes()
    assert has_ended(child)


def test_nothing_grows_over_many_calls(calls: Calls, tmp_path: Path) -> None:
    document = tmp_path / "document"
    document.write_bytes(os.urandom(1 << 20))
    for _ in range(20):
        calls.run("echo", document=document)
    (server,) = list_fork_servers()
    before = _resources(server)
    for number in range(500):
        calls.run("echo", document=document)
        if number % 50 == 0:
            calls.fail("exit")
    assert list_fork_servers() == [server]
    after = _resources(server)
    assert after["children"] == 0
    assert after["descriptors of the server"] == before["descriptors of the server"]
    assert after["descriptors of the caller"] <= before["descriptors of the caller"]
    assert after["memory"] - before["memory"] < 2 << 20


def _resources(server: psutil.Process) -> dict[str, int]:
    gc.collect()  # descriptors of earlier tests
    try:
        descriptors = server.num_fds()
    except psutil.AccessDenied:  # only root sees them
        descriptors = 0
    return {
        "memory": server.memory_info().rss,
        "descriptors of the server": descriptors,
        "descriptors of the caller": psutil.Process().num_fds(),
        "children": len(server.children()),
    }


def test_the_time_before_the_start_does_not_count(make_server: MakeServer) -> None:
    calls = Calls(make_server(max_processes=1))
    short = replace(LIMITS, wall_seconds=0.5)
    with ExitStack() as stack, ThreadPoolExecutor(1) as pool:
        blocking = calls.open("misbehave", how="hang", stack=stack)
        assert next(blocking.iterate_frames(KINDS)) == (b"T", b"before")
        waiting = pool.submit(calls.run, "echo", limits=short)
        end = time.monotonic() + 2 * short.wall_seconds
        wait_until(lambda: time.monotonic() > end)
        blocking.__exit__(None, None, None)
        assert waiting.result(60) == [(b"A", b"{}")]
