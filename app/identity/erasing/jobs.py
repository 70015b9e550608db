"""Background work: erasing what was closed, once its grace period is over."""

from uuid import UUID

from app.identity.erasing import service
from app.kit import jobs
from app.kit.jobs import Job


@jobs.handler("erasing.start")
def start(_job: Job) -> None:
    """Give each organization whose time has come a job; one that failed gets another."""
    for organization_id in service.due():
        jobs.enqueue(
            "erasing.run",
            {"organization_id": str(organization_id)},
            # None of its own: those are among what is erased.
            organization_id=None,
            unique_key=f"erase:{organization_id}",
        )


# It may take as long as an export does.
@jobs.handler("erasing.run", queue="exports", lease_seconds=120)
def run(job: Job) -> None:
    """Erase an organization."""
    service.erase(UUID(job.args["organization_id"]), job.checkpoint)


jobs.periodic("erasing.start", every=600)
