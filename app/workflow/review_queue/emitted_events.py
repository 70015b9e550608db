"""Names and payloads of the events that the review queue emits."""

from collections.abc import Sequence
from typing import TypedDict
from uuid import UUID

from app.kit.events import EventName


class AssignedPayload(TypedDict):
    """The payload of `ASSIGNED`: reviews that were newly assigned to one user or one team.

    `user_ids` is empty for a team. `reason` is the reason for an escalation, otherwise None.
    """

    tag_set_ids: Sequence[UUID]
    user_ids: Sequence[UUID]
    team_id: UUID | None
    by: UUID
    escalated: bool
    reason: str | None


class ReturnedPayload(TypedDict):
    """The payload of `RETURNED`: reviews from which a user or team was unassigned.

    The user or team can no longer do the reviews. Either `user_id` or `team_id` is None.
    `escalated_ids` lists those of the reviews that are escalated. `reason` is the cause, such as
    `team_deleted`.
    """

    tag_set_ids: Sequence[UUID]
    escalated_ids: Sequence[UUID]
    user_id: UUID | None
    team_id: UUID | None
    reason: str


ASSIGNED = EventName[AssignedPayload]("reviews.assigned")
RETURNED = EventName[ReturnedPayload]("reviews.returned")
