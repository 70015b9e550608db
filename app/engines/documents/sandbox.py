"""A child process that reads one document, and how its end is understood."""

import os
import resource
import select
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from types import TracebackType
from typing import Self

import orjson

from app.engines.documents import frames
from app.engines.documents.model import FAILURE_CODES, FailureCode, Limits, ParseFailed
from app.engines.documents.text import clean

_ROOT = Path(__file__).resolve().parents[3]
_CHUNK = 1 << 20
# Beyond this much of its allowance, a child that dies of a signal is taken to have run out.
_MEMORY_SUSPECT = 0.5
# Linux counts a parent's own peak as the child's, exec or not; the two readings differ by a little.
_INHERITED_SLACK_BYTES = 8 << 20
_PEAK_UNIT = 1 if sys.platform == "darwin" else 1024
# A child whose pipe has ended is on its way out; longer than this it does not take.
_PATIENCE_SECONDS = 2.0
_MESSAGE_CHARS = 300
OUT_OF_MEMORY = "Reading it takes more memory than is allowed."


class Child:
    """One child at work; a context manager, and whatever happens the child is gone after it.

    `request` goes to the child as JSON, `path` apart, since a file name need not be text.
    """

    def __init__(self, path: Path, request: dict[str, object], limits: Limits) -> None:
        self._limits = limits
        self._left = limits.wall_seconds
        self._buffer = bytearray()
        self._process = subprocess.Popen(  # noqa: S603 - our own interpreter and module
            [
                sys.executable,
                "-s",
                "-P",
                "-m",
                "app.engines.documents.child",
                str(os.getpid()),
                orjson.dumps({**request, "limits": limits}).decode(),
                os.fsencode(path.absolute()),
            ],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env=_environment(),
            cwd="/",
            bufsize=0,
        )

    @property
    def pid(self) -> int:
        return self._process.pid

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._process.returncode is None:
            self._reap(0)
        if self._process.stdout is not None:
            self._process.stdout.close()

    def frames(self) -> Iterator[tuple[bytes, bytes]]:
        """Frames of the kinds that carry something, until the child says that it is done.

        Raises `ParseFailed`: what the child says, or what its silence or death means.
        """
        cap = _largest_frame(self._limits)
        while True:
            kind, length = frames.HEADER.unpack(self._take(frames.HEADER.size))
            if kind not in frames.KINDS or length > cap:
                raise distrusted()
            payload = self._take(length)
            if kind == frames.DONE:
                return
            if kind == frames.FAILED:
                raise _told(payload)
            yield kind, payload

    def _take(self, count: int) -> bytes:
        while len(self._buffer) < count:
            self._fill()
        taken = bytes(self._buffer[:count])
        del self._buffer[:count]
        return taken

    def _fill(self) -> None:
        stdout = self._process.stdout
        assert stdout is not None
        poll = select.poll()
        poll.register(stdout, select.POLLIN)
        begun = time.monotonic()
        ready = poll.poll(max(0.0, self._left) * 1000)
        self._left -= time.monotonic() - begun
        if not ready:
            message = f"Reading it took longer than {self._limits.wall_seconds:g} seconds."
            raise ParseFailed("timed_out", message)
        data = os.read(stdout.fileno(), _CHUNK)
        if not data:
            raise self._post_mortem()
        self._buffer += data

    def _post_mortem(self) -> ParseFailed:
        """Why the child stopped before it was done."""
        code, cpu_seconds, peak_bytes = self._reap(_PATIENCE_SECONDS)
        limits = self._limits
        if code == -signal.SIGXCPU or (code < 0 and cpu_seconds >= limits.cpu_seconds):
            message = f"Reading it took more than {limits.cpu_seconds} seconds of processor time."
            return ParseFailed("timed_out", message)
        if code < 0 and peak_bytes > max(_MEMORY_SUSPECT * limits.memory_bytes, _own_peak()):
            return ParseFailed("out_of_memory", OUT_OF_MEMORY)
        how = _signal_name(-code) if code < 0 else f"exit status {code}"
        return ParseFailed("crashed", f"The parser stopped unexpectedly ({how}).")

    def _reap(self, patience: float) -> tuple[int, float, int]:
        """Collect the child, by force after `patience` seconds.

        Returns its exit code (negative for a signal), processor seconds and peak resident bytes.
        """
        process = self._process
        deadline = time.monotonic() + patience
        try:
            pid, status, usage = os.wait4(process.pid, os.WNOHANG)
            while pid == 0 and time.monotonic() < deadline:
                time.sleep(0.005)
                pid, status, usage = os.wait4(process.pid, os.WNOHANG)
            if pid == 0:
                os.kill(process.pid, signal.SIGKILL)
                _, status, usage = os.wait4(process.pid, 0)
        except ChildProcessError:  # the host process collects every child that it has
            process.returncode = 0
            return 0, 0.0, 0
        process.returncode = os.waitstatus_to_exitcode(status)
        spent = usage.ru_utime + usage.ru_stime
        return process.returncode, spent, usage.ru_maxrss * _PEAK_UNIT


def _own_peak() -> int:
    """Bytes up to which a child's peak says nothing about the child."""
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * _PEAK_UNIT
    return peak + _INHERITED_SLACK_BYTES


def distrusted() -> ParseFailed:
    """The failure of a child that breaks the protocol: a foreign file may have taken it over."""
    return ParseFailed("crashed", "The parser sent what no parser sends.")


def _told(payload: bytes) -> ParseFailed:
    try:
        told = orjson.loads(payload)
        code, message = str(told["code"]), clean(str(told["message"]))[:_MESSAGE_CHARS]
    except (ValueError, KeyError, TypeError):
        return distrusted()
    known: FailureCode | None = next((name for name in FAILURE_CODES if name == code), None)
    return distrusted() if known is None else ParseFailed(known, message)


def _environment() -> dict[str, str]:
    """Nothing of ours goes to the child but where Python and the engine are."""
    kept = {name: os.environ[name] for name in ("LD_LIBRARY_PATH",) if name in os.environ}
    return {
        **kept,
        "LC_ALL": "C.UTF-8",
        "PYTHONUTF8": "1",
        "PYTHONDONTWRITEBYTECODE": "1",
        "PYTHONPATH": str(_ROOT),
    }


def _largest_frame(limits: Limits) -> int:
    """A bound on what an honest child sends at once, in bytes."""
    text = 12 * limits.max_text_chars  # what JSON writes for one, at most
    return max(text + 96 * limits.max_words_per_page, 4 * limits.max_pixels) + (1 << 20)


def _signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"
