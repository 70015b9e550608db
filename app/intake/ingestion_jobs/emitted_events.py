"""Names and payloads of the events that ingestion jobs emit."""

from collections.abc import Mapping
from typing import TypedDict
from uuid import UUID

from app.intake.ingestion_jobs.statuses import JobKind
from app.kit.events import EventName


class JobPayload(TypedDict):
    """The payload of `REQUESTED` and `READ`.

    `REQUESTED`: the job is queued for its first run or for a retry. `READ`: the job has
    read its source to the end, and documents are still being processed.
    """

    job_id: UUID
    kind: str


class EndedPayload(JobPayload):
    """The payload of `ENDED`, with the final status and counts."""

    status: str
    counts: dict[str, int]


REQUESTED: Mapping[JobKind, EventName[JobPayload]] = {
    JobKind.IMPORT: EventName("ingestion_job.import_requested"),
    JobKind.CRAWL: EventName("ingestion_job.crawl_requested"),
    JobKind.EXTRACT: EventName("ingestion_job.extraction_requested"),
    JobKind.REPROCESS: EventName("ingestion_job.reprocess_requested"),
}
"""The event for each `JobKind`, so that only the handler of this `JobKind` runs."""
READ = EventName[JobPayload]("ingestion_job.read")
ENDED = EventName[EndedPayload]("ingestion_job.ended")
