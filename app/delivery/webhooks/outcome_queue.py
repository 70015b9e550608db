"""The queue of attempt results that have not been written to the database yet."""

import time
from collections import OrderedDict, deque
from collections.abc import Sequence
from threading import Condition
from uuid import UUID

from app.delivery.webhooks.queries.outcomes import AttemptResult

GATHER_SECONDS = 0.02
"""The maximum time in seconds to wait for more results to write in the same transaction."""


class OutcomeQueue:
    """A thread-safe queue that keeps the order of each organization's results."""

    def __init__(self) -> None:
        self._changed = Condition()
        self._queues: OrderedDict[UUID, deque[AttemptResult]] = OrderedDict()
        self._retry_times: dict[UUID, float] = {}
        self._size = 0

    def __len__(self) -> int:
        return self._size

    def put(self, result: AttemptResult) -> None:
        """Add a result to the end of its organization's queue."""
        with self._changed:
            self._queues.setdefault(result.attempt.organization_id, deque()).append(result)
            self._size += 1
            self._changed.notify()

    def requeue(self, results: Sequence[AttemptResult], delay: float) -> None:
        """Requeue results at the front of the queues of their organizations.

        `get` returns no results of the same organizations for `delay` seconds.
        """
        with self._changed:
            for result in reversed(results):
                self._queues.setdefault(result.attempt.organization_id, deque()).appendleft(result)
                self._retry_times[result.attempt.organization_id] = time.monotonic() + delay
                self._size += 1

    def get(
        self, limit: int, timeout: float, *, max_organizations: int | None = None
    ) -> list[AttemptResult]:
        """Remove and return up to `limit` results, divided fairly among organizations.

        Waits up to `timeout` seconds for the first result, and returns an empty list if there is
        none, or if `requeue` has delayed all organizations that have results. If
        `max_organizations` is not None, the results belong to at most this number of organizations.
        """
        with self._changed:
            if not self._changed.wait_for(lambda: self._size, timeout):
                return []
            self._changed.wait_for(lambda: self._size >= limit, GATHER_SECONDS)
            return self._remove(limit, max_organizations)

    def _remove(self, limit: int, max_organizations: int | None) -> list[AttemptResult]:
        now = time.monotonic()
        ready_ids = [id_ for id_ in self._queues if self._retry_times.get(id_, 0.0) <= now]
        ready_ids = ready_ids[:max_organizations]
        results: list[AttemptResult] = []
        while ready_ids and len(results) < limit:
            quota = max(1, (limit - len(results)) // len(ready_ids))
            for organization_id in list(ready_ids):
                queue = self._queues[organization_id]
                count = min(quota, len(queue), limit - len(results))
                results += [queue.popleft() for _ in range(count)]
                if not queue:
                    ready_ids.remove(organization_id)
                    del self._queues[organization_id]
                    self._retry_times.pop(organization_id, None)
                else:
                    self._queues.move_to_end(organization_id)
        self._size -= len(results)
        return results
