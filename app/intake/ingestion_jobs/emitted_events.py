"""Names and payloads of the events that ingestion jobs emit."""

from typing import TypedDict
from uuid import UUID

REQUESTED = "ingestion_job.requested"
READ = "ingestion_job.read"
ENDED = "ingestion_job.ended"


class JobPayload(TypedDict):
    """The payload of `REQUESTED` and `READ`.

    `REQUESTED`: the job is queued to run, or to retry its failed documents. `READ`: its source was
    read to the end, and documents are still being parsed.
    """

    job_id: UUID
    kind: str


class EndedPayload(JobPayload):
    """The payload of `ENDED`, with the final status and counts."""

    status: str
    counts: dict[str, int]
