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
        self._waiting: OrderedDict[UUID, deque[Result]] = OrderedDict()
        self._not_before: dict[UUID, float] = {}
        self._size = 0

    def __len__(self) -> int:
        return self._size

    def put(self, result: Result) -> None:
        """Add a result."""
        with self._changed:
            self._waiting.setdefault(result.organization_id, deque()).append(result)
            self._size += 1
            self._changed.notify()

    def put_back(self, results: Sequence[Result], delay: float) -> None:
        """Put results back at the front; their organizations' results wait for `delay` seconds."""
        with self._changed:
            for result in reversed(results):
                self._waiting.setdefault(result.organization_id, deque()).appendleft(result)
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
            return self._take(limit, organizations)

    def _take(self, limit: int, organizations: int | None) -> list[Result]:
        now = time.monotonic()
        ready = [one for one in self._waiting if self._not_before.get(one, 0.0) <= now]
        ready = ready[:organizations]
        taken: list[Result] = []
        while ready and len(taken) < limit:
            share = max(1, (limit - len(taken)) // len(ready))
            for one in list(ready):
                waiting = self._waiting[one]
                count = min(share, len(waiting), limit - len(taken))
                taken += [waiting.popleft() for _ in range(count)]
                if not waiting:
                    ready.remove(one)
                    del self._waiting[one]
                    self._not_before.pop(one, None)
                else:
                    self._waiting.move_to_end(one)
        self._size -= len(taken)
        return taken
