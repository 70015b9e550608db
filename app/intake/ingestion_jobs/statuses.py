"""The state machine of an ingestion job, and the outcomes of its items."""

from collections.abc import Mapping
from enum import StrEnum


class JobStatus(StrEnum):
    """The status of an ingestion job."""

    QUEUED = "queued"
    RUNNING = "running"
    COMPLETED = "completed"
    COMPLETED_WITH_ERRORS = "completed_with_errors"
    FAILED = "failed"
    CANCELLED = "cancelled"


_QUEUED, _RUNNING, _COMPLETED, _WITH_ERRORS, _FAILED, _CANCELLED = JobStatus

TRANSITIONS: Mapping[JobStatus, frozenset[JobStatus]] = {
    _QUEUED: frozenset({_RUNNING, _FAILED, _CANCELLED}),
    # An interrupted run continues from its last batch.
    _RUNNING: frozenset({_RUNNING, _COMPLETED, _WITH_ERRORS, _FAILED, _CANCELLED}),
    _COMPLETED: frozenset(),
    # A retry queues the job again.
    _WITH_ERRORS: frozenset({_QUEUED}),
    _FAILED: frozenset({_QUEUED}),
    _CANCELLED: frozenset(),
}
"""The statuses that may follow each status."""
ENDED_STATUSES = (_COMPLETED, _WITH_ERRORS, _FAILED, _CANCELLED)
"""The statuses of jobs that have ended."""
ACTIVE_STATUSES = (_QUEUED, _RUNNING)
"""The statuses of queued and running jobs."""


class JobKind(StrEnum):
    """The task of an ingestion job.

    Jobs import a file, crawl a source, extract tags, or reprocess documents.
    """

    IMPORT = "import"
    CRAWL = "crawl"
    EXTRACT = "extract"
    REPROCESS = "reprocess"


class ItemStatus(StrEnum):
    """The outcome of one document; `processing` until a background job has handled the document."""

    PROCESSING = "processing"
    CREATED = "created"
    DUPLICATE = "duplicate"
    SKIPPED = "skipped"
    FAILED = "failed"
