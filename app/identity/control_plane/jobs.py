"""Job that reports failed jobs to the operators."""

from app.identity.control_plane import service
from app.kit import jobs, tenancy
from app.kit.jobs import Job


@jobs.handler("control_plane.report_failures")
def report_failures(_job: Job) -> None:
    """Send the operators an email about the jobs that failed permanently since the last report."""
    with tenancy.across_organizations(reason="the report covers the jobs of every organization"):
        service.report_failures()


jobs.periodic("control_plane.report_failures", every=300)
