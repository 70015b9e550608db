"""Jobs that record feedback when tag sets are accepted, reopened or deleted."""

from collections.abc import Sequence
from uuid import UUID

from app.insight.feedback.service import automatic
from app.kit import jobs
from app.kit.jobs import Job
from app.workflow.tag_sets import emitted_events


# Attempts are not limited, because feedback must not be lost.
@jobs.handler(
    "feedback.record",
    queue="bulk",
    events=(emitted_events.ACCEPTED, emitted_events.REOPENED, emitted_events.DELETED),
    batch=True,
    max_attempts=None,
)
def record(batch: Sequence[Job]) -> None:
    """Record or delete the feedback on tag sets that were accepted, reopened or deleted."""
    payloads = [job.args["data"] for job in batch]
    automatic.record(
        [(UUID(payload["artifact_id"]), UUID(payload["tag_set_id"])) for payload in payloads]
    )
