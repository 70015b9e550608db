"""Functions of higher layers that artifacts need but may not import."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol
from uuid import UUID

from app.kit.ports import Port


class ListBlockingTagSets(Protocol):
    """A function that returns the ids of the oldest tag sets that block a change to an artifact.

    With `all_statuses`, every tag set blocks the change. Otherwise, a tag set blocks it if the tag
    set is not rejected and has a schema other than `allowed_schema_id`.
    """

    def __call__(
        self, artifact_id: UUID, *, allowed_schema_id: UUID | None = None, all_statuses: bool
    ) -> list[UUID]: ...


class CreateReprocessJob(Protocol):
    """A function that creates the ingestion job of a document that is being reprocessed."""

    def __call__(self, artifact_id: UUID, *, name: str, created_by: UUID | None) -> object: ...


@dataclass(frozen=True)
class Intake:
    """Functions of the intake. They act on the current organization.

    `request_settling` receives the id of a document whose parsing has ended, so that the jobs that
    wait for the document store its outcome.
    """

    create_reprocess_job: CreateReprocessJob
    request_settling: Callable[[UUID], None]


@dataclass(frozen=True)
class Workflow:
    """Functions of the workflow. They act on the current organization.

    `update_statuses` and `unarchive` receive the ids of locked artifacts.
    """

    has_routing_rules: Callable[[], bool]
    list_blocking_tag_sets: ListBlockingTagSets
    update_statuses: Callable[[Sequence[UUID]], object]
    unarchive: Callable[[Sequence[UUID]], None]


intake = Port[Intake]()
workflow = Port[Workflow]()
