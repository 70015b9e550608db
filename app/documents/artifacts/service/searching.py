"""Rebuild the full-text index after the way of indexing has changed."""

from collections.abc import Callable
from uuid import UUID

from app.documents.artifacts.queries import searching as queries
from app.kit import tenancy
from app.kit.logging import get_logger

log = get_logger(__name__)


def index_backlog(checkpoint: Callable[[], None]) -> None:
    """Index the documents of every organization in the backlog, batch by batch.

    `checkpoint` commits each batch, so a run after a crash continues with the next one.
    """
    for organization_id in queries.list_backlog():
        while _index_batch(organization_id):
            checkpoint()
        checkpoint()
        log.info("artifacts.indexed", organization=str(organization_id))


def _index_batch(organization_id: UUID) -> bool:
    with tenancy.organization(organization_id):
        return queries.index_batch()
