"""Artifacts that labelers do not get again: they skipped them, or their work was rejected."""

from collections.abc import Mapping
from uuid import UUID

from app.workflow.tag_sets.queries import reservations, statuses
from app.workflow.tag_sets.queries import skips as queries


def create_skip(artifact_id: UUID, user_id: UUID, reason: str) -> None:
    """Record that a user skipped a locked artifact, and remove the user from its assignees."""
    queries.skip(artifact_id, user_id, reason)


def delete_skip(artifact_id: UUID, user_id: UUID) -> bool:
    """Delete a user's skip of a locked artifact; return whether there was one.

    A draft that was returned to the user reserves the artifact again.
    """
    deleted = queries.unskip(artifact_id, user_id)
    if deleted:
        statuses.update([artifact_id])
    return deleted


def skip_rejected(labelers: Mapping[UUID, UUID], reason: str) -> None:
    """Skip artifacts for the labelers whose work on them was rejected to the pool.

    `labelers` is {artifact_id: user_id}; the artifacts are locked. The users are also removed from
    the artifacts' assignees.
    """
    reservations.skip_rejected(labelers, reason)
