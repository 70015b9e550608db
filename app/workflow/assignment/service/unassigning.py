"""Unassignment of artifacts from users and teams that can no longer label them."""

from uuid import UUID

from app.kit import events
from app.kit.db import Checkpoint
from app.workflow.assignment import emitted_events
from app.workflow.assignment.emitted_events import UnassignedPayload
from app.workflow.assignment.queries import assignees as queries


def unassign(assignee_id: UUID, checkpoint: Checkpoint, *, reason: str) -> int:
    """Unassign a user who can no longer label, or a team without labelers, from all artifacts.

    Returns the number of changed artifacts. Does nothing, or stops after a batch, if the user or a
    member of the team can label. Safe to repeat. An artifact without other assignees returns to the
    pool of unassigned artifacts. Emits `artifacts.unassigned` for each batch and calls `checkpoint`
    after each batch.
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
