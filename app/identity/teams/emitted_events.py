"""Names and payloads of the events that teams emit."""

from typing import TypedDict
from uuid import UUID

from app.kit.events import EventName


class DeletedPayload(TypedDict):
    """The payload of `DELETED`; `parent_id` is the new parent of the team's children, or None."""

    team_id: UUID
    name: str
    parent_id: UUID | None
    deleted_by: UUID


class MemberRemovedPayload(TypedDict):
    """The payload of `MEMBER_REMOVED`."""

    team_id: UUID
    user_id: UUID


DELETED = EventName[DeletedPayload]("team.deleted")
MEMBER_REMOVED = EventName[MemberRemovedPayload]("team.member_removed")
