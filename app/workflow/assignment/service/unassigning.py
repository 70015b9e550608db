"""Unassignment of artifacts from users and teams that can no longer label them."""

from collections.abc import Iterable
from uuid import UUID

from app.identity.members.eligibility import has_eligible_member
from app.kit import events
from app.kit.db import Checkpoint
from app.kit.permissions import Role
from app.workflow.assignment import emitted_events
from app.workflow.assignment.emitted_events import UnassignedPayload
from app.workflow.assignment.queries import assignees as queries


def unassign(assignee_id: UUID, checkpoint: Checkpoint, *, reason: str) -> int:
    """Unassign a team or user from all artifacts and return the number of changed artifacts.

    An artifact without other assignees returns to the pool of unassigned artifacts. Emits
    `artifacts.unassigned` for each batch and calls `checkpoint` after each batch.
    """
    changed_count = 0
    while artifact_ids := queries.unassign(assignee_id):
        changed_count += len(artifact_ids)
        payload: UnassignedPayload = {
            "artifact_ids": artifact_ids,
            "assignee_id": assignee_id,
            "count": len(artifact_ids),
            "reason": reason,
        }
        events.emit(emitted_events.UNASSIGNED, payload)
        checkpoint()
    return changed_count


def unassign_teams_without_labelers(
    team_ids: Iterable[UUID], checkpoint: Checkpoint, *, reason: str
) -> None:
    """Unassign each team that has no labeler left from its artifacts. Safe to repeat."""
    for team_id in team_ids:
        if not has_eligible_member(team_id, Role.labeler):
            unassign(team_id, checkpoint, reason=reason)
