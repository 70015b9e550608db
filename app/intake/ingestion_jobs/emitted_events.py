"""Names and payloads of the events that ingestion jobs emit."""

from typing import TypedDict
from uuid import UUID

REQUESTED = "ingestion_job.requested"
ENDED = "ingestion_job.ended"


class RequestedPayload(TypedDict):
    """The payload of `REQUESTED`: a job that is queued to run or to try its failures again."""

    job_id: UUID
    kind: str


class EndedPayload(RequestedPayload):
    """The payload of `ENDED`: the final status and counts."""

    status: str
    counts: dict[str, int]
