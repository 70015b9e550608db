"""Functions that schemas need from higher layers, which they may not import."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol
from uuid import UUID


class DetachArtifacts(Protocol):
    """Remove a schema from all its artifacts. Without `wait`, fail if an artifact is locked."""

    def __call__(self, schema_id: UUID, *, wait: bool) -> None: ...


@dataclass(frozen=True)
class Workflow:
    """Functions for the tag sets and artifacts of a schema in the current organization."""

    count_tag_sets: Callable[[UUID], int]
    detach_artifacts: DetachArtifacts


_bound: list[Workflow] = []


def bind_workflow(workflow: Workflow) -> None:
    """Set the functions that `get_workflow` returns."""
    _bound[:] = [workflow]


def get_workflow() -> Workflow:
    """Return the functions that were bound when the application was created."""
    return _bound[0]
