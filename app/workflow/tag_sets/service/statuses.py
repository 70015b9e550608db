"""Statuses and reservations of many artifacts, in batches."""

from uuid import UUID

from app.kit.db import Checkpoint
from app.workflow.tag_sets.queries import statuses


def update_statuses_of_schema(schema_id: UUID, checkpoint: Checkpoint) -> None:
    """Update the statuses of a schema's artifacts that are in progress or in review.

    Call this when the number of required tag sets has changed. Artifacts that are done stay done.
    `checkpoint` is called after each batch.
    """
    after = None
    while rows := statuses.lock_labeled(schema_id, after):
        statuses.update_statuses([row.id for row in rows])
        checkpoint()
        after = max((row.created_at, row.id) for row in rows)


def release_reservations(user_id: UUID, checkpoint: Checkpoint) -> None:
    """Release the artifacts that are reserved for a user who may no longer label.

    The user's drafts are kept. `checkpoint` is called after each batch.
    """
    last_id = UUID(int=0)
    while artifact_ids := statuses.lock_reserved(user_id, last_id):
        statuses.update_statuses(artifact_ids)
        last_id = artifact_ids[-1]
        checkpoint()


def end_expired_reservations(checkpoint: Checkpoint) -> None:
    """End the current organization's expired reservations.

    The drafts are kept. `checkpoint` is called after each batch.
    """
    while artifact_ids := statuses.end_expired_reservations():
        statuses.update_statuses(artifact_ids)
        checkpoint()
