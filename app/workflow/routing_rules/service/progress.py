"""The progress of applying the rules to all unassigned documents."""

from datetime import datetime
from uuid import UUID

from app.kit.jobs import Job
from app.workflow.routing_rules.queries import documents
from app.workflow.routing_rules.queries.documents import START_POSITION, RoutingPosition


class ApplyProgress:
    """The progress of one run, which applies the rules to all unassigned documents.

    The run processes the documents after `position` that were created until `created_until`, each
    of them at most once. Documents that are created later are routed when they are ready. If the
    run has a job, the job stores the progress in the transaction that routes the documents.
    """

    def __init__(self, job: Job | None = None) -> None:
        self.position = START_POSITION
        self.created_until = documents.get_time()
        self._job = job
        if job is not None and job.progress is not None:
            created_at = datetime.fromisoformat(job.progress["created_at"])
            self.position = RoutingPosition(created_at, UUID(job.progress["id"]))
            self.created_until = datetime.fromisoformat(job.progress["until"])

    def advance(self, position: RoutingPosition) -> bool:
        """Set and store the position, and return True.

        If the run was requested again, resets the position and `created_until` instead, and returns
        False.
        """
        progress = {
            "created_at": position.created_at.isoformat(),
            "id": str(position.id),
            "until": self.created_until.isoformat(),
        }
        if self._job is not None and not self._job.store_progress(progress):
            self.position, self.created_until = START_POSITION, documents.get_time()
            return False
        self.position = position
        return True
