"""Assigning and unassigning of artifacts in bulk."""

from collections.abc import Callable, Iterable, Sequence
from uuid import UUID

from app.kit import events
from app.workflow.assignment.queries import assignees as queries
from app.workflow.assignment.queries.assignees import Assigned
from app.workflow.tag_sets import service as tag_sets

__all__ = ["Assigned", "assign_many", "unassign", "unassign_unable"]


def assign_many(assigned: Sequence[Assigned]) -> set[UUID]:
    """Set assignees, priority, due time or schema of artifacts and return the ids that exist.

    Runs one statement. The caller must have checked that the assignees and schemas exist, and must
    have locked them. The skips of users who are assigned by name are deleted.
    """
    if not assigned:
        return set()
    found = queries.assign_many(assigned)
    if resumed := [one for one, again in found.items() if again]:
        tag_sets.update_statuses(resumed)
    return set(found)


def unassign(assignee_id: UUID, checkpoint: Callable[[], None], *, reason: str) -> int:
    """Unassign a team or user from all artifacts and return the number of artifacts changed.

    An artifact without other assignees returns to the pool of unassigned artifacts. Emits
    `artifacts.unassigned` for each batch and calls `checkpoint` after each batch.
    """
    total = 0
    while done := queries.unassign(assignee_id):
        total += len(done)
        data = {"artifact_ids": done, "assignee_id": assignee_id, "count": len(done)}
        events.emit("artifacts.unassigned", {**data, "reason": reason})
        checkpoint()
    return total


def unassign_unable(
    team_ids: Iterable[UUID], checkpoint: Callable[[], None], *, reason: str
) -> None:
    """Unassign the given teams that have no labeler left. Safe to repeat."""
    for team_id in team_ids:
        if not queries.has_labeler(team_id):
            unassign(team_id, checkpoint, reason=reason)
