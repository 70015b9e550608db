"""Names and payloads of the events that assignment emits."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import NotRequired, TypedDict
from uuid import UUID

ASSIGNED = "artifacts.assigned"
UNASSIGNED = "artifacts.unassigned"
RELEASED = "artifact.released"


class AssignedPayload(TypedDict):
    """The payload of `ASSIGNED`: the `count` artifacts that one transaction newly assigned.

    `counts` has the number of artifacts per user if each artifact was assigned to one user. If
    routing rules assigned the artifacts, `by` is None and `team_counts` has the number per team.
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
    """The payload of `UNASSIGNED`: `count` artifacts that a user or team can no longer label."""

    artifact_ids: Sequence[UUID]
    assignee_id: UUID
    count: int
    reason: str


class ReleasedPayload(TypedDict):
    """The payload of `RELEASED`: the user who released the artifact or left, and the reason."""

    artifact_id: UUID
    user_id: UUID
    reason: str | None
