"""Request bodies: small ones in memory, larger ones in temporary files, all within one bound."""

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from tempfile import SpooledTemporaryFile

from app.kit import errors
from app.kit.logging import get_logger
from app.kit.storage.space import Reserve

log = get_logger("app.serving")

MEMORY_BYTES = 64 * 1024
"""A body beyond this goes to a temporary file."""
RETRY_SECONDS = 5


class Spool:
    """What the bodies of a process take together, in memory and on the disk.

    The temporary files have no names: when the process ends, however it ends, they are gone.
    """

    def __init__(self, folder: Path, limit: int, reserve_bytes: int) -> None:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        self.folder = folder
        self.reserve = Reserve(reserve_bytes, {"spool": folder})
        self._limit = limit
        self._held = 0
        self._lock = threading.Lock()

    @property
    def held(self) -> int:
        """Bytes that the bodies hold now."""
        return self._held

    def take(self, count: int) -> bool:
        """Count so many bytes more, unless that would pass the limit."""
        with self._lock:
            if self._held + count > self._limit:
                return False
            self._held += count
            return True

    def give_back(self, count: int) -> None:
        """Count so many bytes less."""
        with self._lock:
            self._held -= count


class Body:
    """The body of one request: written by the loop, then read by the application as `file`."""

    __slots__ = ("_make_room", "_spool", "file", "size")

    def __init__(self, spool: Spool, make_room: Callable[[], bool]) -> None:
        self._spool = spool
        self._make_room = make_room
        self.size = 0
        self.file = SpooledTemporaryFile(max_size=MEMORY_BYTES, dir=str(spool.folder))  # noqa: SIM115

    def write(self, data: bytes | memoryview) -> None:
        """Append bytes. Raises 503 when the spool or the disk is full."""
        count = len(data)
        while not self._spool.take(count):
            if not self._make_room():
                raise errors.busy(
                    "Too many large requests are being received. Try again shortly.",
                    retry_after=RETRY_SECONDS,
                )
        self.size += count
        if self.size > MEMORY_BYTES and self._spool.reserve.is_used_up():
            raise errors.storage_full()
        with _reporting_disk_errors():
            self.file.write(data)

    def finish(self) -> None:
        """Turn from writing to reading. Raises 503 when the disk is full."""
        with _reporting_disk_errors():
            self.file.seek(0)

    def close(self) -> None:
        """Remove the body and give back its room; may be called again."""
        if not self.file.closed:
            with suppress(OSError):  # what is left in a buffer need not be written any more
                self.file.close()
            self._spool.give_back(self.size)


@contextmanager
def _reporting_disk_errors() -> Iterator[None]:
    try:
        yield
    except OSError as error:
        log.exception("request.body_not_stored")
        raise errors.storage_full() from error
