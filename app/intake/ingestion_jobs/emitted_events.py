"""Names and payloads of the events that ingestion jobs emit."""

from typing import TypedDict
from uuid import UUID

REQUESTED = "ingestion_job.requested"
READ = "ingestion_job.read"
ENDED = "ingestion_job.ended"


class JobPayload(TypedDict):
    """The payload of `REQUESTED` and `READ`.

    `REQUESTED`: the job is queued to run, or to try its failures again. `READ`: its source was read
    to the end, and some of its documents are still being parsed.
    """

    job_id: UUID
    kind: str


class EndedPayload(JobPayload):
    """The payload of `ENDED`: the final status and counts."""

    status: str
    counts: dict[str, int]
