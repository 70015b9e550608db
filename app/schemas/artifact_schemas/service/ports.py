"""Functions of higher layers that schemas call without importing these layers."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol
from uuid import UUID

from app.kit.ports import Port


class DetachArtifacts(Protocol):
    """A function that removes a schema from a batch of its artifacts.

    Returns whether there was no such artifact. If another transaction has locked one of the
    artifacts, the function waits. If `wait` is false, it fails instead.
    """

    def __call__(self, schema_id: UUID, *, wait: bool) -> bool: ...


@dataclass(frozen=True)
class Workflow:
    """Functions of higher layers that count a schema's tag sets and delete its other records.

    `delete_predictions` deletes a batch of its predictions, and returns whether none is left.
    `clear_references` remove it from the records that apply it to new artifacts.
    """

    count_tag_sets: Callable[[UUID], int]
    detach_artifacts: DetachArtifacts
    delete_predictions: Callable[[UUID], bool]
    clear_references: Sequence[Callable[[UUID], None]]


workflow = Port[Workflow]()
