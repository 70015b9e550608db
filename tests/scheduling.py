"""Distribution of tests to the processes of pytest-xdist, in linear time.

pytest-xdist 3.8 sends each test in a message of its own, searches its id in the list of all ids,
and counts the completed tests again and again. For 15,000 tests that took 40 s of processor time.
"""

from itertools import islice
from typing import Any

from xdist.scheduler.loadgroup import LoadGroupScheduling

_BATCH = 8
_MANY = 1000
"""While more groups than this wait, a few are sent together. Towards the end each is sent alone."""


class _Collection(list[str]):
    """The ids of all tests; finds the position of an id in constant time."""

    def __init__(self, ids: list[str]) -> None:
        super().__init__(ids)
        self._positions = {name: position for position, name in enumerate(ids)}

    def index(self, name: str, *_: Any) -> int:  # type: ignore[override]
        return self._positions[name]


class Scheduling(LoadGroupScheduling):
    """Distributes tests by group, as `--dist loadgroup` does."""

    def add_node_collection(self, node: Any, collection: Any) -> None:
        super().add_node_collection(node, collection)
        if node in self.registered_collections:
            self.registered_collections[node] = _Collection(list(collection))

    def mark_test_complete(self, node: Any, item_index: int, duration: float = 0) -> None:
        """Forget a group of which all tests are completed."""
        super().mark_test_complete(node, item_index, duration)
        scope = self._split_scope(self.registered_collections[node][item_index])
        if all(self.assigned_work[node][scope].values()):
            del self.assigned_work[node][scope]

    def _assign_work_unit(self, node: Any) -> None:
        number = _BATCH if len(self.workqueue) > _MANY else 1
        scopes = list(islice(self.workqueue, number))
        units = {scope: self.workqueue.pop(scope) for scope in scopes}
        self.assigned_work.setdefault(node, {}).update(units)
        collection = self.registered_collections[node]
        node.send_runtest_some(
            [
                collection.index(name)
                for unit in units.values()
                for name, is_completed in unit.items()
                if not is_completed
            ]
        )
