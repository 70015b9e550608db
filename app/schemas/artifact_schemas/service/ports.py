"""Functions that schemas need from higher layers, which they may not import."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol
from uuid import UUID


class DetachArtifacts(Protocol):
    """Remove a schema from all its artifacts. Without `wait`, fail if one of them is locked."""

    def __call__(self, schema_id: UUID, *, wait: bool) -> None: ...


@dataclass(frozen=True)
class Labels:
    """Functions on the tag sets and artifacts of a schema, in the bound organization."""

    count_tag_sets: Callable[[UUID], int]
    detach_artifacts: DetachArtifacts


_bound: list[Labels] = []


def bind_labels(labels: Labels) -> None:
    """Set the functions that `labels` returns."""
    _bound[:] = [labels]


def labels() -> Labels:
    """Return the functions that were bound when the application was created."""
    return _bound[0]
