"""What follows from an artifact's tag sets and its claim: its status and its reservations."""

from collections.abc import Callable, Sequence
from uuid import UUID

from app.kit import errors
from app.workflow.tag_sets.queries import reservations
from app.workflow.tag_sets.queries import statuses as queries


def update_status(artifact_id: UUID) -> str:
    """Update the status of one artifact as `update_statuses` does and return it. Raises 404."""
    statuses = queries.update([artifact_id])
    if not statuses:
        raise errors.not_found()
    return statuses[artifact_id]


def update_statuses(artifact_ids: Sequence[UUID]) -> dict[UUID, str]:
    """Count the artifacts' tag sets and set the statuses that follow; return {id: status}.

    Call it last in the transaction that changed a tag set, with the artifacts locked in the order
    of their ids. Statuses:

    - done: as many tag sets are accepted as the schema requires.
    - in_review: there is no draft, enough tag sets are submitted or accepted, and one is submitted.
    - in_progress: a tag set was not rejected, or there is a claim.

    Artifacts that were deleted are left out.
    """
    return queries.update(artifact_ids)


def unarchive(artifact_ids: Sequence[UUID]) -> None:
    """Clear the mark of archived artifacts, which are locked, and update their statuses."""
    queries.unarchive(artifact_ids)


def update_statuses_of_schema(schema_id: UUID, checkpoint: Callable[[], None]) -> None:
    """Update the artifacts of a schema that are in progress or in review.

    Call it when the number of required tag sets has changed. Artifacts that are done stay done.
    `checkpoint` is called between batches.
    """
    after = None
    while rows := queries.lock_labeled(schema_id, after):
        queries.update([row.id for row in rows])
        checkpoint()
        after = max((row.created_at, row.id) for row in rows)


def count_reserved_for_others(artifact_id: UUID, user_id: UUID) -> int:
    """Return how many of an artifact's required tag sets are reserved for other users' drafts."""
    return reservations.count_reserved_for_others(artifact_id, user_id)


def end_reservations(artifact_id: UUID, user_id: UUID | None) -> list[UUID]:
    """Lock an artifact and end the reservations of drafts by a user, or by everybody with None.

    Return the labelers of these drafts.
    """
    return reservations.end_reservations(artifact_id, user_id)


def release_reservations(user_id: UUID, checkpoint: Callable[[], None]) -> None:
    """Release the artifacts that are reserved for a user who may not label any more.

    The drafts stay. `checkpoint` is called between batches.
    """
    last = UUID(int=0)
    while artifact_ids := queries.lock_reserved(user_id, last):
        queries.update(artifact_ids)
        last = artifact_ids[-1]
        checkpoint()


def list_organizations_with_expired() -> list[UUID]:
    """Return the organizations with expired reservations."""
    return reservations.list_organizations_with_expired()


def end_expired_reservations(checkpoint: Callable[[], None]) -> None:
    """End the bound organization's expired reservations.

    The drafts stay. `checkpoint` is called between batches.
    """
    while artifact_ids := reservations.end_expired():
        queries.update(artifact_ids)
        checkpoint()
