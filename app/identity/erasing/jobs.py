"""Background work: erasing what was closed, once its grace period is over."""

from uuid import UUID

from app.identity.erasing import service
from app.kit import jobs, tenancy
from app.kit.jobs import Job


def start_due() -> list[UUID]:
    """Give each organization whose time has come a job; one that failed gets another.

    They are the answer, whoever has given them their job.
    """
    found = service.due()
    with tenancy.across_organizations(reason="the jobs are none of the organizations' own"):
        for organization_id in found:
            jobs.enqueue(
                "erasing.run",
                {"organization_id": str(organization_id)},
                # Those of its own are among what is erased.
                organization_id=None,
                unique_key=f"erase:{organization_id}",
            )
    return found


@jobs.handler("erasing.start")
def start(_job: Job) -> None:
    """Begin with what is due."""
    start_due()


@jobs.handler("erasing.run", queue="erasing", resumable=True)
def run(job: Job) -> None:
    """Erase an organization."""
    service.erase(UUID(job.args["organization_id"]), job.checkpoint)


jobs.periodic("erasing.start", every=600)
