"""Output of lines to standard output or standard error. Writers never wait for the reader.

This module imports only the standard library, to keep the supervisor small.
"""

import atexit
import os
import select
import socket
import stat
import time
from collections import deque
from collections.abc import Callable
from contextlib import suppress
from threading import Condition, RLock, Thread, current_thread, get_ident

MAX_LINES = 10_000  # in the queue
MAX_BYTES = 4 * 1024 * 1024  # of the queued lines
EXIT_SECONDS = 1.0
"""The maximum time in seconds for which a regular exit waits for unwritten lines."""
_BATCH_BYTES = 64 * 1024
_GATHER_SECONDS = 0.01
"""The time in seconds for which the thread collects lines before it writes them together. If it
woke up for each line, it would slow down the other threads."""
_IDLE_SECONDS = 2.0
# A missing descriptor, a closed reader or a full disk; sys.stderr may be closed or None.
_WRITE_ERRORS = (OSError, ValueError, AttributeError)


class LineOutput:
    """Writes lines to a file descriptor. `write` never blocks.

    If the descriptor supports writing without blocking (a pipe, a terminal, a socket), a line is
    written directly, so that it is not lost if the process is killed immediately afterwards. Lines
    that the descriptor does not accept, and all lines for a file (its disk may hang), go to a
    bounded queue. A daemon thread writes the queued lines. It exists only while there is work.

    When the queue is full, lines are dropped and `on_dropped(count)` is called. Once the queue is
    empty again, the line that `describe_dropped(count)` returns is written.

    `get_descriptor` is called for each line because the output may be redirected. The lock is
    reentrant because signal handlers also write lines.
    """

    def __init__(
        self,
        get_descriptor: Callable[[], int],
        *,
        describe_dropped: Callable[[int], bytes],
        on_dropped: Callable[[int], object] = lambda _count: None,
        max_lines: int = MAX_LINES,
        max_bytes: int = MAX_BYTES,
    ) -> None:
        self._get_descriptor = get_descriptor
        self._describe_dropped = describe_dropped
        self.on_dropped = on_dropped
        self._max_lines = max_lines
        self._max_bytes = max_bytes
        self._direct = DirectWriter()
        self._reset()
        os.register_at_fork(after_in_child=self._reset)
        atexit.register(self.flush)

    def _reset(self) -> None:
        """Initialize the state. A forked child repeats this, without the queue of its parent."""
        self._changed = Condition(RLock())
        self._lines: deque[bytes] = deque()
        self._queued_bytes = 0
        self._batch_size = 0  # the number of lines that the thread is writing
        self._is_exclusive = False  # whether short writes are forbidden
        self._short_writers: set[int] = set()
        self._thread_is_idle = False
        self._flush_count = 0
        self._drops = 0  # the number of dropped lines that have not been reported
        self._is_cut = False  # whether the last line was written only in part
        self._thread: Thread | None = None

    def write(self, line: bytes) -> None:
        """Write or queue a line, which must include its line end. Drop it if the queue is full."""
        if self._write_atomically(line):
            return
        with self._changed:
            is_accepted = self._write_directly(line) or self._enqueue(line)
            if not is_accepted:
                self._drops += 1
        if not is_accepted:
            self.on_dropped(1)

    def _write_atomically(self, line: bytes) -> bool:
        """Write a short line without waiting for other threads. Return whether it was written.

        A thread that needs a longer, non-atomic write first forbids short writes, and then waits
        for the short writes in progress. Therefore this method registers its thread before it
        checks whether short writes are allowed.
        """
        thread_id = get_ident()
        self._short_writers.add(thread_id)
        try:
            if self._is_exclusive or self._lines or self._batch_size or self._drops or self._is_cut:
                return False
            return self._direct.write_atomically(self._get_descriptor(), line)
        except _WRITE_ERRORS:
            return False
        finally:
            self._short_writers.discard(thread_id)

    def _wait_for_short_writers(self) -> None:
        # A signal handler must not wait for a write of the thread that it interrupted.
        while self._short_writers - {get_ident()}:
            time.sleep(0.0001)

    def _write_directly(self, line: bytes) -> bool:
        """Write a line unless earlier lines are still queued. Return whether it was written."""
        if self._lines or self._batch_size:
            return False
        report = self._describe_dropped(self._drops) if self._drops else b""
        data = (b"\n" if self._is_cut else b"") + report + line
        self._is_exclusive = True
        try:
            self._wait_for_short_writers()
            size = self._direct.write(self._get_descriptor(), data)
            if size:
                self._drops, self._is_cut = 0, False
            if 0 < size < len(data):
                self._append(data[size:])  # no other line may be written before the rest
        except _WRITE_ERRORS:
            return False
        finally:
            self._is_exclusive = False
        return size > 0

    def _enqueue(self, line: bytes) -> bool:
        if len(self._lines) >= self._max_lines or self._queued_bytes + len(line) > self._max_bytes:
            return False
        return self._append(line)

    def _append(self, line: bytes) -> bool:
        if self._thread is None and not self._start_thread():
            return False
        self._lines.append(line)
        self._queued_bytes += len(line)
        if self._thread_is_idle:
            self._changed.notify_all()
        return True

    def _start_thread(self) -> bool:
        thread = Thread(target=self._drain, name="log-output", daemon=True)
        self._thread = thread
        try:
            thread.start()
        except RuntimeError:  # the interpreter is exiting, or there are too many threads
            self._thread = None
            return False
        return True

    def _drain(self) -> None:
        """Write the queued lines. Return after `_IDLE_SECONDS` without new lines."""
        try:
            while batch := self._pop_batch():
                failed = not self._write_blocking(b"".join(batch))
                self._finish(len(batch), failed=failed)
                if failed:
                    self.on_dropped(len(batch))
        finally:
            with self._changed:
                if self._thread is current_thread():
                    self._thread = None

    def _pop_batch(self) -> list[bytes]:
        """Remove and return about `_BATCH_BYTES` of lines, or no lines after an idle period."""
        with self._changed:
            if not self._lines:
                self._thread_is_idle = True
                self._changed.wait(_IDLE_SECONDS)
                self._thread_is_idle = False
            if self._lines and not self._flush_count:
                self._changed.wait(_GATHER_SECONDS)
            batch: list[bytes] = []
            size = 0
            while self._lines and size < _BATCH_BYTES:
                batch.append(self._lines.popleft())
                size += len(batch[-1])
            self._queued_bytes -= size
            self._batch_size = len(batch)
            if not batch:
                self._thread = None
            return batch

    def _finish(self, count: int, *, failed: bool) -> None:
        """Record that `count` lines were written, or lost if `failed`, and report dropped lines."""
        with self._changed:
            report, dropped_count = b"", self._drops
            if failed:
                self._drops += count
            elif dropped_count and not self._lines:
                report = self._describe_dropped(dropped_count)
        # If there is a report, the queue is empty for the first time since lines were dropped.
        is_reported = bool(report) and self._write_blocking(report)
        with self._changed:
            if is_reported:
                self._drops -= dropped_count
            self._batch_size = 0
            self._changed.notify_all()

    def _write_blocking(self, data: bytes) -> bool:
        """Write all of `data`, and wait as long as necessary. Return whether this succeeded."""
        self._wait_for_short_writers()
        remaining = b"\n" + data if self._is_cut else data
        total_size = len(remaining)
        try:
            descriptor = self._get_descriptor()
            while remaining:
                try:
                    remaining = remaining[os.write(descriptor, remaining) :]
                except BlockingIOError:  # another process made the shared descriptor non-blocking
                    select.select([], [descriptor], [], 1.0)
        except _WRITE_ERRORS:
            self._is_cut = self._is_cut or len(remaining) < total_size
            return False
        self._is_cut = False
        return True

    def flush(self, seconds: float = EXIT_SECONDS) -> bool:
        """Wait up to `seconds` for all lines to be written. Return whether all were written.

        Call this before `os._exit`. A regular exit of the interpreter calls it automatically.
        """
        deadline = time.monotonic() + seconds
        with self._changed:
            self._flush_count += 1
            self._changed.notify_all()
            while self._lines or self._batch_size:
                remaining = deadline - time.monotonic()
                if remaining <= 0:
                    break
                self._changed.wait(remaining)
            self._flush_count -= 1
            return not (self._lines or self._batch_size)


class DirectWriter:
    """Writes without blocking, and without changing the mode of the original descriptor.

    Making the original descriptor non-blocking would affect every process that shares it. Pipes and
    devices are opened again instead, and sockets are written to with MSG_DONTWAIT.
    """

    def __init__(self) -> None:
        # The identity of the original descriptor, whether it is a pipe, and the separate channel,
        # which is never closed: another thread may still use it when the tuple is replaced.
        self._state: tuple[tuple[int, int, int], bool, int | socket.socket | None] | None = None

    def write_atomically(self, descriptor: int, line: bytes) -> bool:
        """Write a line if the write is atomic, and return whether it was written.

        POSIX guarantees atomic writes for short lines to pipes. Raises OSError if writing fails.
        """
        status = os.fstat(descriptor)
        state = self._state
        if (
            state is None
            or state[0] != (descriptor, status.st_dev, status.st_ino)
            or not state[1]
            or len(line) > select.PIPE_BUF
        ):
            return False
        return self._send(state[2], line) > 0

    def write(self, descriptor: int, data: bytes) -> int:
        """Write as much as possible without blocking, and return the number of written bytes.

        Returns 0 if writing would block. Raises OSError if writing fails for another reason. This
        method is not thread-safe.
        """
        status = os.fstat(descriptor)
        identity = (descriptor, status.st_dev, status.st_ino)
        if self._state is None or self._state[0] != identity:
            channel = _open_nonblocking(descriptor, status.st_mode)
            self._state = (identity, stat.S_ISFIFO(status.st_mode), channel)
        return self._send(self._state[2], data)

    def _send(self, channel: int | socket.socket | None, data: bytes) -> int:
        try:
            if isinstance(channel, int):
                return os.write(channel, data)
            return 0 if channel is None else channel.send(data, socket.MSG_DONTWAIT)
        except BlockingIOError:
            return 0


def _open_nonblocking(descriptor: int, mode: int) -> int | socket.socket | None:
    """Return a non-blocking descriptor or socket for the file, or None if none can be opened."""
    # If opening is not allowed (another user's terminal), the caller uses the queue.
    with suppress(OSError):
        if stat.S_ISSOCK(mode):
            return socket.socket(fileno=os.dup(descriptor))
        if stat.S_ISFIFO(mode) or stat.S_ISCHR(mode):
            flags = os.O_WRONLY | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC
            return os.open(f"/proc/self/fd/{descriptor}", flags)
    return None
