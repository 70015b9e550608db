"""The name and the payload of the event that comments emit."""

from typing import TypedDict
from uuid import UUID

from app.kit.events import EventName


class CommentedPayload(TypedDict):
    """The payload of `COMMENTED`; `mentions` lists the ids of the mentioned users."""

    tag_set_id: UUID
    artifact_id: UUID
    comment_id: UUID
    author_id: UUID
    mentions: list[UUID]


COMMENTED = EventName[CommentedPayload]("tag_set.commented")
