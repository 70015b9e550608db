"""The periodic job that appends new entries to the hash chains, every 30 seconds."""

from uuid import UUID

from app.identity.audit import queries, service
from app.kit import jobs
from app.kit.jobs import Job
from app.kit.logging import get_logger

log = get_logger(__name__)


# The job keeps its old name, because the previous release may have queued jobs with this name.
@jobs.handler("audit.seal", queue="maintenance", resumable=True, every=30)
def append_entries(job: Job) -> None:
    """Append all pending entries to their chains.

    Appends one block for each organization in turn, so that a long backlog of one organization does
    not delay the other organizations.
    """
    organization_ids = queries.list_pending_organization_ids()
    while organization_ids:
        organization_ids = [id_ for id_ in organization_ids if _append_block(job, id_)]


def _append_block(job: Job, organization_id: UUID) -> bool:
    """Append and commit one block of entries; return whether more entries may be pending.

    If the chain's head is not valid, logs an error, appends nothing and returns False.
    """
    try:
        count = service.append_pending_entries(organization_id)
    except service.InvalidHead:
        log.error("audit.head_not_ours", organization=str(organization_id))  # noqa: TRY400
        return False
    job.checkpoint()
    return count >= queries.BLOCK_ENTRIES
