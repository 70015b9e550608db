"""Artifacts that a labeler skipped, or that come last for them after a rejection."""

from collections.abc import Mapping
from uuid import UUID

from app.workflow.tag_sets.queries import reservations, statuses
from app.workflow.tag_sets.queries import skips as queries


def create_skip(artifact_id: UUID, user_id: UUID, reason: str) -> None:
    """Record that a user skipped an artifact, which is locked, and unassign them by name."""
    queries.skip(artifact_id, user_id, reason)


def delete_skip(artifact_id: UUID, user_id: UUID) -> bool:
    """Delete a user's skip of an artifact, which is locked; return whether there was one.

    A draft of theirs that was returned to them reserves the artifact again.
    """
    deleted = queries.unskip(artifact_id, user_id)
    if deleted:
        statuses.update([artifact_id])
    return deleted


def defer_artifacts(labelers: Mapping[UUID, UUID], reason: str) -> None:
    """Offer artifacts last to the labelers whose work on them was rejected.

    `labelers` is {artifact_id: user_id}; the artifacts are locked. The users are not assigned to
    them by name any more.
    """
    reservations.pass_over(labelers, reason)
