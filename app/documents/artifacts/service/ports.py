"""Functions of higher layers that artifacts need but may not import."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol
from uuid import UUID


class ListBlockingTagSets(Protocol):
    """A function that returns the ids of the oldest tag sets that block a change to an artifact.

    With `all_statuses`, every tag set blocks the change. Otherwise, a tag set blocks it if the tag
    set is not rejected and has a schema other than `allowed_schema_id`.
    """

    def __call__(
        self, artifact_id: UUID, *, allowed_schema_id: UUID | None = None, all_statuses: bool
    ) -> list[UUID]: ...


@dataclass(frozen=True)
class Workflow:
    """Functions of the workflow. They act on the current organization.

    `update_statuses` and `unarchive` receive the ids of locked artifacts.
    """

    has_routing_rules: Callable[[], bool]
    list_blocking_tag_sets: ListBlockingTagSets
    update_statuses: Callable[[Sequence[UUID]], object]
    unarchive: Callable[[Sequence[UUID]], None]


_bound_workflows: list[Workflow] = []


def bind_workflow(workflow: Workflow) -> None:
    """Set the functions that `get_workflow` returns."""
    _bound_workflows[:] = [workflow]


def get_workflow() -> Workflow:
    """Return the functions that were bound when the application was created."""
    return _bound_workflows[0]
