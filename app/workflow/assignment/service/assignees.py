"""Who documents are assigned to."""

from collections.abc import Callable, Iterable, Sequence
from uuid import UUID

from app.kit import events
from app.workflow.assignment.queries import assignees as queries
from app.workflow.assignment.queries.assignees import Assigned
from app.workflow.tag_sets import service as tag_sets

__all__ = ["Assigned", "assign_many", "unassign", "unassign_unable"]


def assign_many(assigned: Sequence[Assigned]) -> set[UUID]:
    """Give documents assignees, priority, due time or schema, in one statement; those there were.

    The caller has checked that assignees and schemas exist, and holds them. Skips of whoever is
    named are forgotten.
    """
    if not assigned:
        return set()
    found = queries.assign_many(assigned)
    if resumed := [one for one, again in found.items() if again]:
        tag_sets.update_statuses(resumed)
    return set(found)


def unassign(assignee_id: UUID, checkpoint: Callable[[], None], *, reason: str) -> int:
    """Take a team or a user that is gone off every document; how many there were.

    What nobody else is assigned to is in the pool again. Emits `artifacts.unassigned` for each
    batch; `checkpoint` is called between batches.
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
    """`unassign` of those teams in which nobody labels any more; may be done twice."""
    for team_id in team_ids:
        if not queries.has_labeler(team_id):
            unassign(team_id, checkpoint, reason=reason)
