"""Names and payloads of the events that assignment emits."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import NotRequired, TypedDict
from uuid import UUID

ASSIGNED = "artifacts.assigned"
UNASSIGNED = "artifacts.unassigned"
RELEASED = "artifact.released"


class AssignedPayload(TypedDict):
    """The payload of `ASSIGNED`: new assignments of one transaction, `count` artifacts in all.

    `counts` is the number per user if each artifact was assigned to one user. `by` is null if
    routing rules assigned them; `team_counts` is then the number per team.
    """

    artifact_ids: Sequence[UUID]
    user_ids: Sequence[str]
    team_ids: Sequence[UUID | str]
    count: int
    counts: Mapping[str, int]
    team_counts: NotRequired[Mapping[str, int]]
    by: UUID | None
    due_at: datetime | None


class UnassignedPayload(TypedDict):
    """The payload of `UNASSIGNED`: `count` artifacts that a user or team can no longer do."""

    artifact_ids: Sequence[UUID]
    assignee_id: UUID
    count: int
    reason: str


class ReleasedPayload(TypedDict):
    """The payload of `RELEASED`: the user who released the artifact or left, and the reason."""

    artifact_id: UUID
    user_id: UUID
    reason: str | None
