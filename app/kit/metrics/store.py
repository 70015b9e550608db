"""The store for metrics: sums over all processes and machines, kept in Redis.

Every process adds its increments once a second, in one command. While Redis is down, the process
keeps its increments and adds them later. If Redis is emptied, the counters restart from zero, which
Prometheus handles.
"""

import atexit
import os
import secrets
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from threading import Lock, RLock, Thread

import orjson
from redis import Redis

from app.kit.logging import OutageDetector, get_logger
from app.kit.metrics.counters import INCREMENTS, Increments, SeriesKey

log = get_logger(__name__)

SUMS_KEY = "{labeling:metrics}:sums"
_SEND_INTERVAL_SECONDS = 1.0
_MARK_SECONDS = 3600
"""The time in seconds for which Redis keeps a process's mark, the number of its last batch."""
_LOCK_SECONDS = 1.0
"""The maximum time in seconds to wait until another thread has sent its batch."""
_OUTAGE_QUIET_SECONDS = 120.0

# Adds a batch of increments completely or, if it was added before, not at all. A reply from Redis
# can get lost (a hung Redis executes commands once it continues). The batch is then sent again.
_ADD_SCRIPT = """
if #KEYS == 2 then
    if redis.call('GET', KEYS[2]) == ARGV[1] then return 0 end
    redis.call('SET', KEYS[2], ARGV[1], 'EX', ARGV[2])
end
for i = 3, #ARGV, 2 do redis.call('HINCRBYFLOAT', KEYS[1], ARGV[i], ARGV[i + 1]) end
return 1
"""


class MetricStore:
    """Sends the increments of this process, and reads the sums of all processes."""

    def __init__(self, increments: Increments) -> None:
        self._increments = increments
        self._client: Redis | None = None
        self._inherited_clients: list[Redis | None] = []
        self._connect: Callable[[], Redis] | None = None
        increments.on_add = self._start
        self._reset()
        os.register_at_fork(after_in_child=self._reset)

    def _reset(self) -> None:
        """Initialize the state. A forked child does this again, because it inherits a copy."""
        self._start_lock = RLock()
        self._send_lock = Lock()
        self._thread: Thread | None = None
        # Keep a reference, because a garbage-collected client closes the parent's connections.
        self._inherited_clients.append(self._client)
        self._client = None
        self._mark_key = f"{{labeling:metrics}}:batch:{secrets.token_hex(8)}"
        self._batch_number = 0
        self._batch: list[str] = []
        self._outage = OutageDetector(_OUTAGE_QUIET_SECONDS)

    def set_client_factory(self, connect: Callable[[], Redis] | None) -> None:
        """Set the function that returns Redis clients. With None, the sums stay in this process.

        The clients need a short timeout, because a scrape by Prometheus waits for them.
        """
        if self._connect is None and connect is not None:
            atexit.register(self.flush)
        self._connect = connect
        self._client = None

    def _start(self) -> None:
        """Start the sending thread if it is not running. Called after every increment."""
        if self._thread is not None or self._connect is None:
            return
        with self._start_lock:
            if self._thread is None:
                thread = Thread(target=self._send_forever, name="metrics-sender", daemon=True)
                # The next increment tries again. On exit, `flush` sends the increments.
                with suppress(RuntimeError):
                    thread.start()
                    self._thread = thread

    def _send_forever(self) -> None:
        while True:
            time.sleep(_SEND_INTERVAL_SECONDS)
            self.send()

    def send(self) -> bool:
        """Add this process's increments to the sums. Return whether all were added."""
        with self._lock_sending() as is_locked:
            return is_locked and self._send_all(marked=True)

    def flush(self) -> bool:
        """Add this process's increments to the sums before it exits. Return whether all were added.

        Call this before `os._exit`. A regular exit calls it automatically. The Redis client's
        timeouts limit the wait. Increments that cannot be sent are lost.
        """
        with self._lock_sending() as is_locked:
            return is_locked and self._send_all(marked=False)

    @contextmanager
    def _lock_sending(self) -> Iterator[bool]:
        is_locked = self._send_lock.acquire(timeout=_LOCK_SECONDS)
        try:
            yield is_locked
        finally:
            if is_locked:
                self._send_lock.release()

    def _send_all(self, *, marked: bool) -> bool:
        """Resend the batch that failed before, unchanged, and then send the new increments.

        A `marked` batch leaves a mark in Redis, so that it is added only once even if it is sent
        repeatedly. The mark stays for an hour. A process that is about to exit should not leave a
        mark. Returns whether all increments were added.
        """
        if self._connect is None:
            return True
        if self._batch and not self._send_batch(marked=True):
            return False
        if increments := self._increments.pop_all():
            self._batch_number += 1
            self._batch = [
                str(self._batch_number),
                str(_MARK_SECONDS),
                *_encode_increments(increments),
            ]
            return self._send_batch(marked=marked)
        return True

    def _send_batch(self, *, marked: bool) -> bool:
        keys = [SUMS_KEY, self._mark_key] if marked else [SUMS_KEY]
        try:
            self._get_client().register_script(_ADD_SCRIPT)(keys=keys, args=self._batch)
        except Exception as failure:  # noqa: BLE001 - no failure may lose increments
            self._log_outage(failure)
            return False
        self._batch = []
        return True

    def read(self) -> dict[SeriesKey, float] | None:
        """Return the sums over all processes, or None if Redis does not respond.

        Without a client factory, the result contains only the increments of this process.
        """
        if self._connect is None:
            return self._increments.copy()
        try:
            fields = self._get_client().hgetall(SUMS_KEY)
        except Exception as failure:  # noqa: BLE001 - metrics are most important in an outage
            self._log_outage(failure)
            return None
        return _decode_sums(fields)

    def _log_outage(self, failure: Exception) -> None:
        if self._outage.record_line():
            log.warning("metrics.store_unavailable", error=type(failure).__name__)

    def _get_client(self) -> Redis:
        assert self._connect is not None
        client = self._client
        if client is None:
            client = self._client = self._connect()
        return client


def _encode_increments(increments: Mapping[SeriesKey, float]) -> list[str]:
    """Return the increments as fields of the Redis hash, each followed by its amount."""
    parts: list[str] = []
    for key, amount in increments.items():
        parts += (orjson.dumps(key).decode(), repr(amount))
    return parts


def _decode_sums(fields: Mapping[bytes | str, bytes | str]) -> dict[SeriesKey, float]:
    """Return the sums by key. Entries in the format of another release are skipped."""
    sums: dict[SeriesKey, float] = {}
    for field, value in fields.items():
        try:
            name, labels, part = orjson.loads(field)
            if all(isinstance(text, str) for text in (name, part, *labels)):
                sums[name, tuple(labels), part] = float(value)
        except (ValueError, TypeError):
            continue
    return sums


STORE = MetricStore(INCREMENTS)
