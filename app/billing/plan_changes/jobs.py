"""Job that applies scheduled plan changes and records new plan versions."""

from app.billing.plan_changes import service
from app.billing.plan_changes.versions import record_versions
from app.kit import jobs
from app.kit.jobs import Job


@jobs.handler("plan_changes.apply_due", resumable=True, every=60)
def apply_due_changes(job: Job) -> None:
    """Record new plan versions, and apply all scheduled plan changes that are due."""
    record_versions()
    job.checkpoint()
    for organization_id in service.list_due_organization_ids():
        service.apply_due_change(organization_id)
        job.checkpoint()
