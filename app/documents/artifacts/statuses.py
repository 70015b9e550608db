"""The state machine of an artifact: its statuses and the transitions between them."""

from collections.abc import Mapping
from enum import StrEnum


class ArtifactStatus(StrEnum):
    """The status of an artifact, derived from its file, its tag sets and its claim."""

    PROCESSING = "processing"
    READY = "ready"
    IN_PROGRESS = "in_progress"
    IN_REVIEW = "in_review"
    DONE = "done"
    FAILED = "failed"


class OcrStatus(StrEnum):
    """The status of text recognition on pages that are images.

    `none`: no page needs text recognition, or the file has not been read. `pending`: the document
    stays `processing` until text recognition is done. `done`: all pages that are images were
    recognized. `off`: the operator has turned text recognition off. `failed`: at least one page
    could not be recognized.
    """

    NONE = "none"
    PENDING = "pending"
    DONE = "done"
    OFF = "off"
    FAILED = "failed"


_PROCESSING, _READY, _IN_PROGRESS, _IN_REVIEW, _DONE, _FAILED = ArtifactStatus

TRANSITIONS: Mapping[ArtifactStatus, frozenset[ArtifactStatus]] = {
    # Parsing and routing have finished, or the content cannot be read.
    _PROCESSING: frozenset({_READY, _FAILED}),
    _FAILED: frozenset({_PROCESSING}),
    # The cause is a claim, a draft, a tag set that is reopened for review, or reprocessing.
    _READY: frozenset({_IN_PROGRESS, _IN_REVIEW, _PROCESSING}),
    # Reprocessing ends a claim.
    _IN_PROGRESS: frozenset({_READY, _IN_REVIEW, _DONE, _PROCESSING}),
    _IN_REVIEW: frozenset({_READY, _IN_PROGRESS, _DONE}),
    _DONE: frozenset({_READY, _IN_PROGRESS, _IN_REVIEW}),
}
"""The statuses that may follow each status. Reprocessing, reviewing and reopening can move an
artifact back."""


def is_transition(old_status: str, new_status: str) -> bool:
    """Return whether the status of an artifact stays the same or changes as in `TRANSITIONS`."""
    return new_status in (old_status, *TRANSITIONS[ArtifactStatus(old_status)])


CLAIMABLE = (_READY, _IN_PROGRESS)
"""The statuses in which an artifact can be claimed for labeling."""
OPEN_FOR_TAG_SETS = (*CLAIMABLE, _IN_REVIEW)
"""The statuses in which tag sets can be created."""
UNREADABLE_STATUSES = (_PROCESSING, _FAILED)
"""The statuses in which the text and pages of an artifact cannot be read."""
CLOSED = (_DONE, _FAILED)
"""The statuses in which an artifact is closed: it can be neither assigned nor labeled."""
