"""Artifacts that are reserved for labelers who have started a draft."""

from collections.abc import Callable
from uuid import UUID

from app.workflow.tag_sets.queries import reservations as queries
from app.workflow.tag_sets.queries import statuses


def count_reserved_for_others(artifact_id: UUID, user_id: UUID) -> int:
    """Return how many of an artifact's required tag sets are reserved for other users' drafts."""
    return queries.count_reserved_for_others(artifact_id, user_id)


def end_reservations(artifact_id: UUID, user_id: UUID | None) -> list[UUID]:
    """Lock an artifact and end the reservations of drafts by a user, or by everybody with None.

    Return the labelers of these drafts.
    """
    return queries.end_reservations(artifact_id, user_id)


def release_reservations(user_id: UUID, checkpoint: Callable[[], None]) -> None:
    """Release the artifacts that are reserved for a user who may not label any more.

    The drafts stay. `checkpoint` is called between batches.
    """
    last = UUID(int=0)
    while artifact_ids := statuses.lock_reserved(user_id, last):
        statuses.update(artifact_ids)
        last = artifact_ids[-1]
        checkpoint()


def list_organizations_with_expired() -> list[UUID]:
    """Return the organizations with expired reservations."""
    return queries.list_organizations_with_expired()


def end_expired_reservations(checkpoint: Callable[[], None]) -> None:
    """End the bound organization's expired reservations.

    The drafts stay. `checkpoint` is called between batches.
    """
    while artifact_ids := queries.end_expired():
        statuses.update(artifact_ids)
        checkpoint()
