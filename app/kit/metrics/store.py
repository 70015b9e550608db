"""The sums over all processes and machines, kept in Redis.

Every process adds its increments once a second, in one command. Redis down: they are kept and added
later. Redis emptied: the counters start again from nothing, which Prometheus knows how to read.
"""

import atexit
import os
import secrets
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from threading import Lock, RLock, Thread
from typing import Any

import orjson
from redis import Redis

from app.kit.logging import OutageNotice, get_logger
from app.kit.metrics.counters import INCREMENTS, Increments, Key

log = get_logger(__name__)

SUMS = "{labeling:metrics}:sums"
SEND_SECONDS = 1.0
_MARK_SECONDS = 3600
_LOCK_SECONDS = 1.0
_OUTAGE_QUIET_SECONDS = 120.0

# Adds a batch of increments: all of it or, if it was added before, nothing. An answer can get lost
# (a Redis that hangs reads what was sent to it once it goes on), and then the batch comes again.
_ADD = """
if #KEYS == 2 then
    if redis.call('GET', KEYS[2]) == ARGV[1] then return 0 end
    redis.call('SET', KEYS[2], ARGV[1], 'EX', ARGV[2])
end
for i = 3, #ARGV, 2 do redis.call('HINCRBYFLOAT', KEYS[1], ARGV[i], ARGV[i + 1]) end
return 1
"""


class Store:
    """Sends the increments of this process, and reads the sums of all."""

    def __init__(self, increments: Increments) -> None:
        self._increments = increments
        self._client: Redis | None = None
        self._inherited: list[Redis | None] = []
        self._connect: Callable[[], Redis] | None = None
        increments.on_add = self._start
        self._start_over()
        os.register_at_fork(after_in_child=self._start_over)

    def _start_over(self) -> None:
        """Forget what belongs to one process: after a fork, the parent's."""
        self._starting = RLock()
        self._sending = Lock()
        self._thread: Thread | None = None
        # Kept, as it would close what is the parent's when it is collected.
        self._inherited.append(self._client)
        self._client = None
        self._mark = f"{{labeling:metrics}}:batch:{secrets.token_hex(8)}"
        self._number = 0
        self._batch: list[str] = []
        self._outage = OutageNotice(_OUTAGE_QUIET_SECONDS)

    def use(self, connect: Callable[[], Redis] | None) -> None:
        """Keep the sums where clients made by `connect` lead; None keeps them in this process.

        The clients must time out soon: a scrape waits for them.
        """
        if self._connect is None and connect is not None:
            atexit.register(self.flush)
        self._connect = connect
        self._client = None

    def _start(self) -> None:
        """Start the thread that sends, in a process that counts."""
        if self._thread is not None or self._connect is None:
            return
        with self._starting:
            if self._thread is None:
                thread = Thread(target=self._send_for_ever, name="metrics-sender", daemon=True)
                self._thread = thread
                try:
                    thread.start()
                except RuntimeError:  # the interpreter is ending: `flush` sends the rest
                    return

    def _send_for_ever(self) -> None:
        while True:
            time.sleep(SEND_SECONDS)
            self.send()

    def send(self) -> bool:
        """Add what was counted here to the sums; return whether nothing is left to be added."""
        with self._exclusively() as may:
            return may and self._send_all(marked=True)

    def flush(self) -> bool:
        """Add what was counted here to the sums, for the last time in this process.

        Call it before `os._exit`; other exits do it by themselves. It waits for Redis no longer
        than a client's timeouts; what cannot be sent is lost with the process.
        """
        with self._exclusively() as may:
            return may and self._send_all(marked=False)

    @contextmanager
    def _exclusively(self) -> Iterator[bool]:
        taken = self._sending.acquire(timeout=_LOCK_SECONDS)
        try:
            yield taken
        finally:
            if taken:
                self._sending.release()

    def _send_all(self, *, marked: bool) -> bool:
        """Send the batch that failed before, as it was, and then what was counted since.

        `marked` batches are added once however often they are sent. The mark stays in Redis for a
        while, so a process that sends once and ends should leave none.
        """
        if self._connect is None:
            return True
        if self._batch and not self._send_batch(marked=True):
            return False
        if increments := self._increments.take():
            self._number += 1
            self._batch = [str(self._number), str(_MARK_SECONDS), *_encode(increments)]
            return self._send_batch(marked=marked)
        return True

    def _send_batch(self, *, marked: bool) -> bool:
        keys = [SUMS, self._mark] if marked else [SUMS]
        try:
            self._redis().register_script(_ADD)(keys=keys, args=self._batch)
        except Exception as failure:  # noqa: BLE001 - whatever it is, the counts must not get lost
            self._tell_of_outage(failure)
            return False
        self._batch = []
        return True

    def read(self) -> dict[Key, float] | None:
        """Return the sums over all processes, or None when Redis does not answer."""
        if self._connect is None:
            return self._increments.copy()
        try:
            found: Any = self._redis().hgetall(SUMS)
        except Exception as failure:  # noqa: BLE001 - metrics matter most while something is down
            self._tell_of_outage(failure)
            return None
        return _decode(found)

    def _tell_of_outage(self, failure: Exception) -> None:
        if self._outage.is_first_line():
            log.warning("metrics.store_unavailable", error=type(failure).__name__)

    def _redis(self) -> Redis:
        assert self._connect is not None
        client = self._client
        if client is None:
            client = self._client = self._connect()
        return client


def _encode(increments: Mapping[Key, float]) -> list[str]:
    """Return the increments as fields of the hash, each followed by its amount."""
    parts: list[str] = []
    for key, amount in increments.items():
        parts += (orjson.dumps(key).decode(), repr(amount))
    return parts


def _decode(found: Mapping[bytes, bytes]) -> dict[Key, float]:
    """Return the sums by key; what another release has written in another form is left out."""
    sums: dict[Key, float] = {}
    for field, value in found.items():
        try:
            name, labels, part = orjson.loads(field)
            if all(isinstance(text, str) for text in (name, part, *labels)):
                sums[name, tuple(labels), part] = float(value)
        except (ValueError, TypeError):
            continue
    return sums


STORE = Store(INCREMENTS)
