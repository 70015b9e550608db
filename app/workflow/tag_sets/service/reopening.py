"""A verdict is taken back."""

from typing import Any
from uuid import UUID

from app.documents.artifacts.models import urgent_at
from app.identity.members.eligibility import lock_eligible
from app.kit import errors
from app.kit.permissions import Role
from app.kit.principal import Caller
from app.workflow.tag_sets.queries import beside, deciding, reading
from app.workflow.tag_sets.service import decisions, rules, skips, statuses
from app.workflow.tag_sets.service.drafts import tell

_UNDECIDED = {**decisions.DECIDED, "decided_at": None, "superseded_by": None, "reopened": True}


def reopen(tag_set_id: UUID, *, caller: Caller, revision: int | None, reason: str, to: str) -> Any:
    """Take back the verdict on an accepted or rejected label set: `to` `review`, it waits for
    another one, flagged `resubmitted`; `to` `labeler`, it is a draft of its labeler again.

    No machine accepts it afterwards. Emits `tag_set.reopened`.

    Raises 404; 403 on one's own; 409 `stale_precondition`, or `conflict` with `details.state`, with
    `schema_id` when the document has another schema by now, `accepted` when a merge stands for it,
    `standing` when others have taken the place of a rejected one, or `tag_set_id` of another one of
    its labeler's, or of another merge that waits; 400 on `to` when there is no labeler to go back
    to.
    """
    held = decisions.lock(tag_set_id)
    rules.check_reviewer(caller, held)
    rules.check_state(held, ("accepted", "rejected"), revision)
    _check_room(held)
    back = to == "labeler"
    if back:
        _check_labels(held)
    if held.labeler_id is not None:
        decisions.check_has_none(held, held.labeler_id)
    values = {**_UNDECIDED, "reason": reason, **(_draft(caller) if back else _waiting(held))}
    deciding.change(held.id, values, kind="reopen", author_id=caller.user_id, note=reason)
    if back:
        minutes = rules.claim_minutes(caller)
        deciding.take_claim(held.artifact_id, held.labeler_id, minutes=minutes)
        skips.delete_skip(held.artifact_id, held.labeler_id)
    statuses.update_status(held.artifact_id)
    details = {"reviewer_id": caller.user_id, "reason": reason, "to": to}
    tell("reopened", held.id, held._asdict(), **details)
    return reading.get(tag_set_id)


def _draft(caller: Caller) -> dict[str, Any]:
    return {"status": "draft", "reviewer_id": caller.user_id}


def _waiting(held: Any) -> dict[str, Any]:
    since = urgent_at(held.due_at, held.submitted_at)
    flags = [flag for flag in held.flags if flag != "resubmitted"]
    return {
        "status": "submitted",
        "reviewer_id": None,
        "review_rank": decisions.review_rank(held.priority, since),
        "flags": [*flags, "resubmitted"],
    }


def _check_room(held: Any) -> None:
    if held.schema_id != held.schema_of_artifact:
        raise errors.conflict(
            "The document has another schema by now.", schema_id=held.schema_of_artifact
        )
    merged = [one for one in beside.merges(held.artifact_id, ("accepted",)) if one != held.id]
    if merged:
        raise errors.conflict(
            "A merge stands for the document. Reopen that one first.", accepted=merged
        )
    if held.source == "merge":
        for other in beside.merges(held.artifact_id, ("submitted",)):
            raise errors.conflict("The document has another merge.", tag_set_id=other)
    if held.status == "accepted" or held.source == "merge":
        return
    # A rejected one made room for others, who may have come.
    standing = deciding.in_states(held.artifact_id, ("submitted", "accepted"))
    if len(standing) >= held.labels_wanted:
        raise errors.conflict(
            "The document has as many label sets as its schema asks for.",
            standing=standing,
            labels_per_artifact=held.labels_wanted,
        )


def _check_labels(held: Any) -> None:
    if held.labeler_id is None or not lock_eligible([held.labeler_id], Role.labeler):
        raise errors.invalid("The label set has no labeler to go back to.", "to")
