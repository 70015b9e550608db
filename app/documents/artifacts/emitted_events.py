"""Names and payloads of the events that documents emit."""

from collections.abc import Mapping, Sequence
from typing import Any, TypedDict, cast
from uuid import UUID

from app.kit.events import EventName


class ArtifactPayload(TypedDict):
    """The payload of `CREATED` (a document to parse) and of `PARSED` (a document to route)."""

    artifact_id: UUID


class IngestedPayload(ArtifactPayload):
    """The payload of `INGESTED`: a document that is ready for labeling for the first time."""

    name: str
    media_type: str
    sha256: str
    page_count: int | None
    schema_id: UUID | None
    connector_id: UUID | None
    ingestion_job_id: UUID | None
    parent_id: UUID | None


class UpdatedPayload(ArtifactPayload):
    """The payload of `UPDATED`: the names of the changed properties, and who changed them."""

    changed: Sequence[str]
    by: UUID | None


class ReprocessedPayload(ArtifactPayload):
    """The payload of `REPROCESSED`; `by` is the user who requested it, or null for an operator."""

    by: UUID | None


class DeletedPayload(ArtifactPayload):
    """The payload of `DELETED`, with the digest of the content."""

    sha256: str


class ArchivedPayload(TypedDict):
    """The payload of `ARCHIVED`: the documents that were archived or unarchived."""

    artifact_ids: Sequence[UUID]
    archived: bool
    count: int
    by: UUID | None


CREATED = EventName[ArtifactPayload]("artifact.created")
"""A document was created from a file. A job parses the file."""
PARSED = EventName[ArtifactPayload]("artifact.parsed")
"""A document was parsed and waits for the routing rules."""
INGESTED = EventName[IngestedPayload]("artifact.ingested")
"""A document is ready for labeling for the first time."""
UPDATED = EventName[UpdatedPayload]("artifact.updated")
REPROCESSED = EventName[ReprocessedPayload]("artifact.reprocessed")
DELETED = EventName[DeletedPayload]("artifact.deleted")
ARCHIVED = EventName[ArchivedPayload]("artifacts.archived")

INGESTED_COLUMNS = tuple(name for name in IngestedPayload.__annotations__ if name != "artifact_id")
"""The columns of a document in the payload of `INGESTED`."""


def build_ingested_payload(artifact_id: UUID, columns: Mapping[str, Any]) -> IngestedPayload:
    """Build the payload of `INGESTED` from a mapping that has all `INGESTED_COLUMNS`."""
    properties = {name: columns[name] for name in INGESTED_COLUMNS}
    return cast("IngestedPayload", {"artifact_id": artifact_id, **properties})
