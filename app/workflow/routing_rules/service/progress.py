"""The progress of applying the rules to all unassigned documents."""

from datetime import datetime
from typing import Any
from uuid import UUID

from app.kit.jobs import Job
from app.workflow.routing_rules.queries import documents
from app.workflow.routing_rules.queries.documents import START, RoutingPosition


class ApplyProgress:
    """The progress of one application, in memory.

    The application processes the documents that were created until `until`, after `position`. Each
    document is processed at most once. Documents that are created later are routed when they are
    ready.
    """

    def __init__(self) -> None:
        self.position = START
        self.until = documents.get_time()

    def advance(self, position: RoutingPosition) -> bool:
        """Set the position, and return whether the application continues there.

        This is False if the application must start over, because it was requested again. Only a
        subclass can find this out.
        """
        self.position = position
        return True


class StoredProgress(ApplyProgress):
    """The progress of a job, which stores it in the transaction that routes the documents."""

    def __init__(self, job: Job) -> None:
        super().__init__()
        self._job = job
        if job.progress is not None:
            self.position = _decode_position(job.progress)
            self.until = datetime.fromisoformat(job.progress["until"])

    def advance(self, position: RoutingPosition) -> bool:
        """Set and store the position. Returns False, and starts over, after a new request."""
        if self._job.store_progress(_encode(position, self.until)):
            return super().advance(position)
        self.position, self.until = START, documents.get_time()
        return False


def _encode(position: RoutingPosition, until: datetime) -> dict[str, Any]:
    return {
        "created_at": position.created_at.isoformat(),
        "id": str(position.id),
        "until": until.isoformat(),
    }


def _decode_position(progress: dict[str, Any]) -> RoutingPosition:
    return RoutingPosition(datetime.fromisoformat(progress["created_at"]), UUID(progress["id"]))
