"""Pauses between the requests to model servers that do not respond.

Each request to an unresponsive server occupies a slot of the queue until its deadline. Without
pauses, the unresponsive servers of two organizations would occupy all slots, and the predictions of
other organizations would wait. The timeouts are counted in Redis, which all workers share. While
Redis is unavailable, requests are sent without pauses.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from hashlib import sha256
from typing import Any
from uuid import UUID

from redis.exceptions import RedisError

from app.kit import container
from app.kit.logging import get_logger

log = get_logger(__name__)

MAX_TIMEOUTS = 3
"""The number of consecutive timeouts after which the requests to a server are paused."""
FIRST_PAUSE = timedelta(minutes=2)
MAX_PAUSE = timedelta(minutes=10)
_COUNT_LIFETIME = timedelta(hours=1)


class ModelServer:
    """The model server of an organization. Requests are paused while the server is unresponsive."""

    def __init__(self, organization_id: UUID, base_url: str) -> None:
        name = f"model_server:{organization_id}:{sha256(base_url.encode()).hexdigest()}"
        self._count_key = f"{name}:timeouts"
        self.pause_key = f"{name}:pause"

    def reserve_request(self, deadline: timedelta) -> timedelta | None:
        """Return how long to wait before sending a request, or None to send it now.

        After a pause, one request is sent as a trial. No other request is sent within `deadline`.
        """
        with _connect() as client:
            if int(client.get(self._count_key) or 0) < MAX_TIMEOUTS:
                return None
            if client.set(self.pause_key, "", nx=True, px=deadline):
                return None
            return timedelta(milliseconds=max(1, client.pttl(self.pause_key)))
        return None

    def record_outcome(self, *, is_timeout: bool) -> None:
        """Record whether a request timed out. A request that did not time out ends the pause."""
        with _connect() as client:
            if not is_timeout:
                client.delete(self._count_key, self.pause_key)
                return
            count = int(client.incr(self._count_key))
            client.expire(self._count_key, _COUNT_LIFETIME)
            if count >= MAX_TIMEOUTS:
                pause = FIRST_PAUSE * 2 ** min(count - MAX_TIMEOUTS, 10)
                client.set(self.pause_key, "", px=min(pause, MAX_PAUSE))


@contextmanager
def _connect() -> Iterator[Any]:
    """Yield a Redis client. If Redis fails, log a warning and end the block early."""
    try:
        with container.current().redis() as client:
            yield client
    except RedisError as error:
        log.warning("model_server.store_unavailable", error=type(error).__name__)
