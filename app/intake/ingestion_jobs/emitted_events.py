"""Names and payloads of the events that ingestion jobs emit."""

from collections.abc import Mapping
from typing import TypedDict
from uuid import UUID

from app.intake.ingestion_jobs.statuses import JobKind

REQUESTED: Mapping[JobKind, str] = {
    JobKind.IMPORT: "ingestion_job.import_requested",
    JobKind.CRAWL: "ingestion_job.crawl_requested",
    JobKind.EXTRACT: "ingestion_job.extraction_requested",
    JobKind.REPROCESS: "ingestion_job.reprocess_requested",
}
"""The event for each `JobKind`, so that only the handler of this `JobKind` runs."""
READ = "ingestion_job.read"
ENDED = "ingestion_job.ended"


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
