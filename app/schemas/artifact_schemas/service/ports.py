"""What schemas ask of the rooms above them, which they may not import."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol
from uuid import UUID


class DetachArtifacts(Protocol):
    """Set the schema of all its artifacts to none; without `wait`, fail if one is locked."""

    def __call__(self, schema_id: UUID, *, wait: bool) -> None: ...


@dataclass(frozen=True)
class Labels:
    """Functions about what was labeled with a schema, in the bound organization."""

    count_tag_sets: Callable[[UUID], int]
    detach_artifacts: DetachArtifacts


_bound: list[Labels] = []


def bind_labels(labels: Labels) -> None:
    """Set the functions that `labels` returns from now on."""
    _bound[:] = [labels]


def labels() -> Labels:
    """Return the functions that were bound when the application was created."""
    return _bound[0]
