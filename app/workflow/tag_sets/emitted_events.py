"""Names and payloads of the events that tag sets emit."""

from typing import Protocol, TypedDict
from uuid import UUID

from app.kit.events import EventName


class TagSetPayload(TypedDict):
    """The payload of `CREATED`, `DELETED` and `SUBMITTED`, and the base of all other payloads."""

    tag_set_id: UUID
    artifact_id: UUID
    schema_id: UUID
    schema_version_id: UUID
    labeler_id: UUID | None


class SavedPayload(TagSetPayload):
    """The payload of `SAVED`: the number of the new revision, and its author."""

    revision: int
    author_id: UUID


class AcceptedPayload(TagSetPayload):
    """The payload of `ACCEPTED`; `reviewer_id` is None if nobody reviewed the tag set.

    `corrected` is true if the reviewer changed the tags.
    """

    reviewer_id: UUID | None
    corrected: bool


class RejectedPayload(TagSetPayload):
    """The payload of `REJECTED`.

    `send_to` is `labeler`, `pool` or a member's id. `draft_id` is the id of the new draft if the
    artifact was sent to another labeler, otherwise None.
    """

    reviewer_id: UUID
    reason: str
    send_to: str
    draft_id: UUID | None


class ReopenedPayload(TagSetPayload):
    """The payload of `REOPENED`; `to` is `review`, or `labeler` if the tag set is a draft again."""

    reviewer_id: UUID
    reason: str
    to: str


class MergedPayload(TagSetPayload):
    """The payload of `MERGED`: the ids of the source tag sets, and of the user who merged them."""

    merged_from: list[UUID]
    author_id: UUID


class HasIds(Protocol):
    """A tag set with the ids that every payload contains."""

    @property
    def id(self) -> UUID:
        """The tag set's id."""

    @property
    def artifact_id(self) -> UUID:
        """The artifact's id."""

    @property
    def schema_id(self) -> UUID:
        """The schema's id."""

    @property
    def schema_version_id(self) -> UUID:
        """The schema version's id."""

    @property
    def labeler_id(self) -> UUID | None:
        """The labeler's id, or None."""


CREATED = EventName[TagSetPayload]("tag_set.created")
SAVED = EventName[SavedPayload]("tag_set.saved")
DELETED = EventName[TagSetPayload]("tag_set.deleted")
SUBMITTED = EventName[TagSetPayload]("tag_set.submitted")
ACCEPTED = EventName[AcceptedPayload]("tag_set.accepted")
REJECTED = EventName[RejectedPayload]("tag_set.rejected")
REOPENED = EventName[ReopenedPayload]("tag_set.reopened")
MERGED = EventName[MergedPayload]("tag_set.merged")


def build_payload(tag_set: HasIds) -> TagSetPayload:
    """Build the part of the payload that is common to all tag set events."""
    return {
        "tag_set_id": tag_set.id,
        "artifact_id": tag_set.artifact_id,
        "schema_id": tag_set.schema_id,
        "schema_version_id": tag_set.schema_version_id,
        "labeler_id": tag_set.labeler_id,
    }


def build_accepted_payload(
    tag_set: HasIds, *, reviewer_id: UUID | None, corrected: bool
) -> AcceptedPayload:
    """Build the payload of `ACCEPTED`; `reviewer_id` is None if nobody reviewed the tag set."""
    return {**build_payload(tag_set), "reviewer_id": reviewer_id, "corrected": corrected}


def build_rejected_payload(
    tag_set: HasIds, *, reviewer_id: UUID, reason: str, send_to: str, draft_id: UUID | None = None
) -> RejectedPayload:
    """Build the payload of `REJECTED` for a tag set that a reviewer rejected."""
    return {
        **build_payload(tag_set),
        "reviewer_id": reviewer_id,
        "reason": reason,
        "send_to": send_to,
        "draft_id": draft_id,
    }
