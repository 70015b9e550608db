"""Background jobs that erase closed organizations after their grace period."""

from uuid import UUID

from app.identity.erasing import service
from app.kit import jobs, tenancy
from app.kit.jobs import Job


def enqueue_due_erasures() -> list[UUID]:
    """Enqueue a job for each organization that is due for erasure; return the organization ids.

    Organizations that wait for their last invoice are not due (see `service.list_due_ids`).
    If an organization's previous job failed, a new job is enqueued. An organization that already
    has an unfinished job gets no second job, but its id is returned, too.
    """
    organization_ids = service.list_due_ids()
    with tenancy.across_organizations(reason="the jobs belong to no organization"):
        for organization_id in organization_ids:
            jobs.enqueue(
                "erasing.run",
                {"organization_id": str(organization_id)},
                # Jobs that belong to the organization are erased together with the organization.
                organization_id=None,
                unique_key=f"erase:{organization_id}",
            )
    return organization_ids


@jobs.handler("erasing.start", every=600)
def start_erasing(_job: Job) -> None:
    """Enqueue a job for each organization that is due for erasure."""
    enqueue_due_erasures()


@jobs.handler("erasing.run", queue="erasing", resumable=True)
def erase_organization(job: Job) -> None:
    """Erase the organization in the job's arguments."""
    service.erase(UUID(job.args["organization_id"]), job.checkpoint)
