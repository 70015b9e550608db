"""Names and payloads of the events that schemas emit."""

from typing import TypedDict
from uuid import UUID

from app.kit.events import EventName


class PublishedPayload(TypedDict):
    """The payload of `PUBLISHED`: the new version, and the user who published it (`by`).

    `labels_per_artifact_before` is the value in the previous version, or None if this is the first
    version.
    """

    schema_id: UUID
    schema_version_id: UUID
    number: int
    by: UUID
    labels_per_artifact: int
    labels_per_artifact_before: int | None


PUBLISHED = EventName[PublishedPayload]("schema.published")
