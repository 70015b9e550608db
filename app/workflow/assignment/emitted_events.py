"""Names and payloads of the events that assignment emits."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import NotRequired, TypedDict
from uuid import UUID

from app.kit.events import EventName


class AssignedPayload(TypedDict):
    """The payload of `ASSIGNED`: new assignments of `count` artifacts in one transaction.

    `counts` maps user ids to the number of artifacts. It is empty if a request assigned each
    artifact to all users in the request, or to a team. If routing rules assigned the artifacts,
    `by` is None, and `team_counts` maps team ids to the number of artifacts. `due_at` is None if
    the assignments have no due time, or different due times.
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
    """The payload of `UNASSIGNED`: artifacts from which a user or team was unassigned.

    `assignee_id` is the id of this user or team. `reason` is the cause, such as `team_deleted`.
    """

    artifact_ids: Sequence[UUID]
    assignee_id: UUID
    count: int
    reason: str


class ReleasedPayload(TypedDict):
    """The payload of `RELEASED`: an artifact whose claim or reservation was ended.

    `user_id` is the user who released the artifact, or the claimant who can no longer label.
    `reason` is the user's reason, or None if the user gave no reason. For a claimant who can no
    longer label, `reason` is the cause, such as `member_removed`.
    """

    artifact_id: UUID
    user_id: UUID
    reason: str | None


ASSIGNED = EventName[AssignedPayload]("artifacts.assigned")
UNASSIGNED = EventName[UnassignedPayload]("artifacts.unassigned")
RELEASED = EventName[ReleasedPayload]("artifact.released")
