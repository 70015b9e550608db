"""Functions of higher rooms that artifacts need but may not import."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol
from uuid import UUID

from app.kit.ports import Port


class CreateReprocessJob(Protocol):
    """A function that creates the ingestion job of a document that is being reprocessed."""

    def __call__(self, artifact_id: UUID, *, name: str, created_by: UUID | None) -> object: ...


@dataclass(frozen=True)
class Intake:
    """Functions of the room `intake`. They act on the current organization.

    `request_outcome_update` receives the id of a document whose parsing has ended. The jobs that
    are waiting for this document then record its outcome.
    """

    create_reprocess_job: CreateReprocessJob
    request_outcome_update: Callable[[UUID], None]


@dataclass(frozen=True)
class Workflow:
    """Functions of the room `workflow`. They act on the current organization.

    `list_tag_set_ids(artifact_id)` returns the ids of an artifact's oldest tag sets.
    `list_tag_set_ids_of_other_schemas(artifact_id, schema_id)` returns the ids of only those tag
    sets that are not rejected and have a schema other than `schema_id`. `update_statuses` and
    `unarchive` receive the ids of locked artifacts. `update_statuses` derives the statuses again
    from tag sets and claims; `unarchive` also does so.
    """

    has_routing_rules: Callable[[], bool]
    list_tag_set_ids: Callable[[UUID], list[UUID]]
    list_tag_set_ids_of_other_schemas: Callable[[UUID, UUID | None], list[UUID]]
    update_statuses: Callable[[Sequence[UUID]], object]
    unarchive: Callable[[Sequence[UUID]], None]


intake = Port[Intake]()
workflow = Port[Workflow]()
