"""Output to readers that are slow, stopped or closed, with real file descriptors."""

import os
import pty
import re
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, suppress
from pathlib import Path
from typing import Any

import pytest

from app.kit.line_output import LineOutput
from tests.factories.waiting import wait_until

ROOT = Path(__file__).resolve().parents[2]


def build_output(get_descriptor: Callable[[], int], **limits: int) -> tuple[LineOutput, list[int]]:
    """Return an output, and a list to which it appends the numbers of lines that it drops."""
    dropped: list[int] = []
    output = LineOutput(
        get_descriptor,
        describe_dropped=lambda count: f"dropped {count}\n".encode(),
        on_dropped=dropped.append,
        **limits,
    )
    return output, dropped


def read_lines(path: Path) -> list[str]:
    return path.read_text().splitlines()


class Reader:
    """The other end of a pipe, a socket or a terminal. It reads only on request."""

    def __init__(self, kind: str) -> None:
        if kind == "pipe":
            self.reading, self.writing = os.pipe()
        elif kind == "socket":
            self.reading, self.writing = (end.detach() for end in socket.socketpair())
        else:
            self.reading, self.writing = pty.openpty()

    def read_until(self, last: bytes) -> list[str]:
        """Read everything up to a line that begins with `last`."""
        data = b""
        while not re.search(rb"^" + last + rb".*\n", data, re.MULTILINE):
            data += os.read(self.reading, 65536)
        return data.replace(b"\r\n", b"\n").decode().splitlines()

    def close(self) -> None:
        for descriptor in (self.reading, self.writing):
            with suppress(OSError):
                os.close(descriptor)


@pytest.fixture(params=["pipe", "socket", "terminal"])
def reader(request: pytest.FixtureRequest) -> Iterator[Reader]:
    with closing(Reader(request.param)) as reader:
        yield reader


@pytest.fixture
def pipe() -> Iterator[Reader]:
    with closing(Reader("pipe")) as pipe:
        yield pipe


def run(program: str, **members: Any) -> "subprocess.Popen[bytes]":
    setup = "from app.kit.logging import get_logger, flush; import os, sys; log = get_logger('x')\n"
    return subprocess.Popen([sys.executable, "-c", setup + program], cwd=ROOT, **members)


def test_nobody_waits_for_a_reader_and_nothing_is_lost_in_silence(reader: Reader) -> None:
    output, dropped = build_output(lambda: reader.writing, max_lines=100)
    for number in range(5000):
        output.write(f"{number} {'x' * 100}\n".encode())
    assert not output.flush(0.05)
    lines = reader.read_until(b"dropped")
    assert lines[-1] == f"dropped {sum(dropped)}"
    numbers = [int(line.split()[0]) for line in lines[:-1]]
    assert numbers == sorted(set(numbers)), "their order is kept"
    assert numbers[:100] == list(range(100)), "and what came first"
    assert len(numbers) + sum(dropped) == 5000
    assert len(numbers) > 100
    output.write(b"after\n")
    assert reader.read_until(b"after") == ["after"]
    assert output.flush(10)


def test_the_queue_is_bounded_in_bytes_as_well(pipe: Reader) -> None:
    output, dropped = build_output(lambda: pipe.writing, max_bytes=300_000)
    for _ in range(100):
        output.write(b"y" * 10_000 + b"\n")
    assert 60 <= sum(dropped) <= 70
    assert len(pipe.read_until(b"dropped")) == 101 - sum(dropped)


def test_no_short_line_gets_into_a_long_one_that_is_half_written(
    pipe: Reader, monkeypatch: pytest.MonkeyPatch
) -> None:
    output, _ = build_output(lambda: pipe.writing)
    output.write(b"first\n")
    write, taken = output._direct.write, b""
    other = threading.Thread(target=output.write, args=(b"short\n",))

    def write_half(descriptor: int, data: bytes) -> int:
        """Write a part of the data, free space in the pipe, and let another thread write."""
        nonlocal taken
        count = write(descriptor, data)
        taken += os.read(pipe.reading, 16_384)
        if not other.ident:
            other.start()
            other.join(0.3)
        return count

    monkeypatch.setattr(output._direct, "write", write_half)
    output.write(b"x" * 100_000 + b"\n")
    while taken.count(b"\n") < 3:
        taken += os.read(pipe.reading, 65536)
    other.join(60)
    assert [len(line) for line in taken.splitlines()] == [5, 100_000, 5]


def test_a_line_of_any_length_stays_whole_among_many_threads(pipe: Reader) -> None:
    output, _ = build_output(lambda: pipe.writing)

    def write(name: str) -> None:
        for number in range(200):
            output.write((name * (20_000 if number % 10 == 0 else 50) + "\n").encode())

    data = b""
    with ThreadPoolExecutor(4) as pool:
        pool.map(write, "abcd")
        while data.count(b"\n") < 800:
            data += os.read(pipe.reading, 4096)
    lines = data.decode().splitlines()
    assert {len(line) for line in lines} == {50, 20_000}
    assert all(len(set(line)) == 1 for line in lines)


def test_files_are_written_by_a_thread_that_does_not_stay(tmp_path: Path) -> None:
    path = tmp_path / "log"
    with path.open("ab") as file:
        output, _ = build_output(file.fileno)
        for number in range(1000):
            output.write(f"{number}\n".encode())
        assert output.flush(30)
        assert read_lines(path) == [str(number) for number in range(1000)]
        wait_until(lambda: output._thread is None)
        output.write(b"again\n")
        assert output.flush(30)
    assert read_lines(path)[-1] == "again"


def test_a_full_disk_costs_lines_and_no_more(tmp_path: Path) -> None:
    full = os.open("/dev/full", os.O_WRONLY)
    path = tmp_path / "log"
    with path.open("ab") as file:
        where = [full]
        output, dropped = build_output(lambda: where[0])
        for _ in range(10):
            output.write(b"lost\n")
        wait_until(lambda: sum(dropped) == 10)
        where[0] = file.fileno()
        output.write(b"kept\n")
        wait_until(lambda: len(read_lines(path)) == 2)
    os.close(full)
    assert read_lines(path) == ["kept", "dropped 10"]


def test_a_reader_that_is_gone_costs_lines_and_no_more() -> None:
    reader = Reader("pipe")
    os.close(reader.reading)
    output, dropped = build_output(lambda: reader.writing)
    for _ in range(10):
        output.write(b"lost\n")
    wait_until(lambda: sum(dropped) == 10)
    reader.close()
    output.write(b"no such descriptor\n")
    wait_until(lambda: sum(dropped) == 11)


def test_a_redirected_descriptor_is_followed(pipe: Reader, tmp_path: Path) -> None:
    descriptor = os.dup(pipe.writing)
    output, _ = build_output(lambda: descriptor)
    output.write(b"one\n")
    assert pipe.read_until(b"one") == ["one"]
    path = tmp_path / "log"
    with path.open("ab") as file:
        os.dup2(file.fileno(), descriptor)
    output.write(b"two\n")
    assert output.flush(30)
    assert read_lines(path) == ["two"]
    os.dup2(pipe.writing, descriptor)
    output.write(b"three\n")
    assert pipe.read_until(b"three") == ["three"]
    os.close(descriptor)


def test_a_process_can_end_although_nobody_reads(pipe: Reader) -> None:
    process = run(
        "for n in range(3000): log.info('line', n=n, text='y' * 300)", stderr=pipe.writing
    )
    assert process.wait(60) == 0


def test_a_child_starts_with_an_empty_queue(pipe: Reader) -> None:
    program = """
for n in range(2000): log.info('parent', n=n, text='y' * 200)
if os.fork() == 0:
    for n in range(5): log.info('child', n=n)
    flush(60)
    os._exit(0)
os.wait()
flush(60)
"""
    process = run(program, stderr=pipe.writing)
    os.close(pipe.writing)
    with os.fdopen(pipe.reading) as stream:
        # Read nothing before both processes have filled the pipe and queue lines.
        wait_until(lambda: len(list(Path(f"/proc/{process.pid}/task").iterdir())) > 1)
        lines = stream.read().splitlines()
    assert process.wait(60) == 0
    assert sum('"event":"parent"' in line for line in lines) == 2000
    assert sum('"event":"child"' in line for line in lines) == 5
    assert len(lines) == 2005


@pytest.mark.parametrize("end", ["os._exit(1)", "os.kill(os.getpid(), 9)", "os.abort()"])
def test_the_last_line_before_a_crash_is_there(end: str, pipe: Reader) -> None:
    process = run(f"log.info('first'); log.error('last'); {end}", stderr=pipe.writing)
    process.wait(60)
    assert '"event":"last"' in pipe.read_until(b'.*"last"')[-1]


def test_the_last_lines_get_into_a_file(tmp_path: Path) -> None:
    for end in ("", "flush(60); os._exit(1)", "raise SystemExit(1)", "raise ValueError"):
        path = tmp_path / "log"
        with path.open("wb") as file:
            run(f"for n in range(500): log.info('line', n=n)\n{end}", stderr=file).wait(60)
        assert path.read_text().count('"event":"line"') == 500, end


def test_signal_handlers_may_write_lines(pipe: Reader) -> None:
    program = """
import signal
seen = 0
def handle(*_):
    global seen
    seen += 1
    log.warning('signal', n=seen)
signal.signal(signal.SIGALRM, handle)
signal.setitimer(signal.ITIMER_REAL, 0.0005, 0.0005)
while seen < 500: log.info('line', text='y' * 100)
signal.setitimer(signal.ITIMER_REAL, 0)
"""
    process = run(program, stderr=pipe.writing)
    try:
        assert process.wait(60) == 0, "a full pipe all the time, and signals in the middle of lines"
    finally:
        process.send_signal(signal.SIGKILL)


def test_exceptions_that_end_a_process_or_thread_are_lines(pipe: Reader) -> None:
    program = """
from app.kit.logging import install_exception_hooks
import threading
install_exception_hooks()
def fail(): raise RuntimeError('in a thread')
thread = threading.Thread(target=fail, name='worker-of-test'); thread.start(); thread.join()
raise RuntimeError('in the end')
"""
    assert run(program, stderr=pipe.writing).wait(60) == 1
    first, second = pipe.read_until(b".*process.failed")
    assert '"event":"thread.failed"' in first
    assert "worker-of-test" in first
    assert "in a thread" in first
    assert "in the end" in second
