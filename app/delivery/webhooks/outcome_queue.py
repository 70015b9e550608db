"""A queue of results to be recorded, which is fair to organizations."""

import time
from collections import OrderedDict, deque
from collections.abc import Sequence
from threading import Condition
from uuid import UUID

from app.delivery.webhooks.queries.outcomes import Result

GATHER_SECONDS = 0.02
"""How long to wait for more results, because many in one transaction cost less."""


class OutcomeQueue:
    """A thread-safe queue that keeps the order of each organization's results."""

    def __init__(self) -> None:
        self._changed = Condition()
        self._queued: OrderedDict[UUID, deque[Result]] = OrderedDict()
        self._not_before: dict[UUID, float] = {}
        self._size = 0

    def __len__(self) -> int:
        return self._size

    def put(self, result: Result) -> None:
        """Add a result."""
        with self._changed:
            self._queued.setdefault(result.organization_id, deque()).append(result)
            self._size += 1
            self._changed.notify()

    def requeue(self, results: Sequence[Result], delay: float) -> None:
        """Put results back at the front; their organizations' results wait for `delay` seconds."""
        with self._changed:
            for result in reversed(results):
                self._queued.setdefault(result.organization_id, deque()).appendleft(result)
                self._not_before[result.organization_id] = time.monotonic() + delay
                self._size += 1

    def get(self, limit: int, timeout: float, *, organizations: int | None = None) -> list[Result]:
        """Remove and return up to `limit` results, divided fairly among organizations.

        Waits up to `timeout` seconds for the first result. `organizations` is the maximum number of
        organizations, None for all.
        """
        with self._changed:
            if not self._changed.wait_for(lambda: self._size, timeout):
                return []
            self._changed.wait_for(lambda: self._size >= limit, GATHER_SECONDS)
            return self._remove(limit, organizations)

    def _remove(self, limit: int, organizations: int | None) -> list[Result]:
        now = time.monotonic()
        ready = [key for key in self._queued if self._not_before.get(key, 0.0) <= now]
        ready = ready[:organizations]
        results: list[Result] = []
        while ready and len(results) < limit:
            quota = max(1, (limit - len(results)) // len(ready))
            for organization_id in list(ready):
                queued = self._queued[organization_id]
                count = min(quota, len(queued), limit - len(results))
                results += [queued.popleft() for _ in range(count)]
                if not queued:
                    ready.remove(organization_id)
                    del self._queued[organization_id]
                    self._not_before.pop(organization_id, None)
                else:
                    self._queued.move_to_end(organization_id)
        self._size -= len(results)
        return results
