"""Request bodies, in memory or in temporary files, with one limit for their total size."""

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from tempfile import SpooledTemporaryFile

from app.kit import errors
from app.kit.logging import get_logger
from app.kit.storage.space import DiskReserve

log = get_logger("app.serving")

MEMORY_BYTES = 64 * 1024
"""The size in bytes above which a body is stored in a temporary file."""
RETRY_SECONDS = 5
"""The value of the `Retry-After` header if the spool is full."""


class Spool:
    """The space for the request bodies of a process, in memory and on disk, at most `limit` bytes.

    The temporary files have no names, so they disappear when the process exits, even after a crash.
    """

    def __init__(self, folder: Path, limit: int, reserve_bytes: int) -> None:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        self.folder = folder
        self.reserve = DiskReserve(reserve_bytes, {"spool": folder})
        self._limit = limit
        self._used_bytes = 0
        self._lock = threading.Lock()

    def allocate(self, byte_count: int) -> bool:
        """Reserve `byte_count` bytes unless this exceeds the limit. Return whether it succeeded."""
        with self._lock:
            if self._used_bytes + byte_count > self._limit:
                return False
            self._used_bytes += byte_count
            return True

    def free(self, byte_count: int) -> None:
        """Release `byte_count` bytes that `allocate` reserved."""
        with self._lock:
            self._used_bytes -= byte_count


class Body:
    """The body of one request. The loop writes it, and the application then reads it from `file`.

    `make_room` tries to free space in a full spool, and returns whether it succeeded.
    """

    __slots__ = ("_make_room", "_spool", "file", "size")

    def __init__(self, spool: Spool, make_room: Callable[[], bool]) -> None:
        self._spool = spool
        self._make_room = make_room
        self.size = 0
        self.file = SpooledTemporaryFile(max_size=MEMORY_BYTES, dir=str(spool.folder))  # noqa: SIM115

    def write(self, data: bytes | memoryview) -> None:
        """Append data to the body. Raises 503 if the spool is full or disk space is too low."""
        count = len(data)
        while not self._spool.allocate(count):
            if not self._make_room():
                raise errors.busy(
                    "The server is receiving too many large requests. Try again shortly.",
                    retry_after=RETRY_SECONDS,
                )
        self.size += count
        if self.size > MEMORY_BYTES and self._spool.reserve.is_below_reserve():
            raise errors.storage_full()
        with _translate_disk_errors():
            self.file.write(data)

    def finish(self) -> None:
        """Switch from writing to reading. Raises 503 if the disk is full."""
        with _translate_disk_errors():
            self.file.seek(0)

    def close(self) -> None:
        """Delete the body and release its bytes. It may be called repeatedly."""
        if not self.file.closed:
            with suppress(OSError):  # a failed write of the last buffer does not matter here
                self.file.close()
            self._spool.free(self.size)


@contextmanager
def _translate_disk_errors() -> Iterator[None]:
    try:
        yield
    except OSError as error:
        log.exception("request.body_not_stored")
        raise errors.storage_full() from error
