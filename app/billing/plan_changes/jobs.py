"""Job that makes the scheduled changes of plans."""

from app.billing.plan_changes import service
from app.kit import jobs
from app.kit.jobs import Job


@jobs.handler("plan_changes.apply_due", resumable=True)
def apply_due_changes(job: Job) -> None:
    """Make the scheduled changes that are due, each in its own transaction."""
    for organization_id in service.list_due():
        service.apply_due_change(organization_id)
        job.checkpoint()


jobs.periodic("plan_changes.apply_due", every=60)
