"""Functions of higher layers that schemas call without importing these layers."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol
from uuid import UUID

from app.kit.ports import Port


class DetachArtifacts(Protocol):
    """A function that removes a schema from a batch of the artifacts that have the schema.

    Returns True if no artifact had the schema. If another transaction has locked one of the
    artifacts, the function waits or, if `wait` is false, raises an error.
    """

    def __call__(self, schema_id: UUID, *, wait: bool) -> bool: ...


@dataclass(frozen=True)
class Workflow:
    """Functions of higher layers that count, change or delete the records that refer to a schema.

    `delete_predictions` deletes a batch of the schema's predictions, and returns True if no
    prediction remains. Each function in `clear_references` removes the schema from all records of
    one type, such as routing rules, which set the schema of new artifacts.
    """

    count_tag_sets: Callable[[UUID], int]
    detach_artifacts: DetachArtifacts
    delete_predictions: Callable[[UUID], bool]
    clear_references: Sequence[Callable[[UUID], None]]


workflow = Port[Workflow]()
