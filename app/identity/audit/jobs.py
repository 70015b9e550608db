"""The periodic job that appends new entries to the hash chains, every 30 seconds."""

from app.identity.audit import queries, service
from app.kit import jobs
from app.kit.jobs import Job
from app.kit.logging import get_logger

log = get_logger(__name__)


@jobs.handler("audit.seal", queue="maintenance", resumable=True)
def append_entries(job: Job) -> None:
    """Append all pending entries to their chains, one organization at a time."""
    for organization_id in queries.list_pending_organization_ids():
        try:
            while service.append_pending_entries(organization_id):
                job.checkpoint()
        except service.InvalidHead:
            log.error("audit.head_not_ours", organization=str(organization_id))  # noqa: TRY400


jobs.periodic("audit.seal", every=30)
