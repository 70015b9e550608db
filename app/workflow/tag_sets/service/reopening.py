"""Reopen accepted and rejected tag sets."""

from uuid import UUID

from app.identity.members.eligibility import lock_eligible_members
from app.kit import errors, events
from app.kit.permissions import Role
from app.kit.principal import Caller
from app.workflow.tag_sets import emitted_events
from app.workflow.tag_sets.emitted_events import ReopenedPayload, build_payload
from app.workflow.tag_sets.queries import deciding, drafts, reading, skips, statuses
from app.workflow.tag_sets.queries.locking import LockedTagSet
from app.workflow.tag_sets.queries.reading import TagSetRow
from app.workflow.tag_sets.service import decisions, rules
from app.workflow.tag_sets.transitions import COMPLETED, Action, TagSetStatus

_DECISION_RESET = {
    **decisions.REVIEW_RESET,
    "decided_at": None,
    "superseded_by": None,
    "reopened": True,
}


def reopen(
    tag_set_id: UUID, *, caller: Caller, revision: int | None, reason: str, to: str
) -> TagSetRow:
    """Reopen an accepted or rejected tag set and emit `tag_set.reopened`.

    If `to` is `review`, the tag set is pending review again, with the flag `resubmitted`. If `to`
    is `labeler`, the tag set becomes a draft of its labeler. The labeler's skip is deleted, and the
    labeler gets the claim on the artifact, unless another user has claimed it. A reopened tag set
    is never accepted automatically.

    Raises 404; 403 for the caller's own tag set; 400 if no labeler can edit the draft; 409
    `stale_precondition`; 409 `conflict`. The details of a conflict are `state`, `schema_id` (the
    artifact's new schema), `accepted` (an accepted merge), `standing` (tag sets that have replaced
    this tag set), or `tag_set_id` (another tag set by the labeler, or a pending merge).
    """
    tag_set = decisions.lock(tag_set_id)
    rules.check_reviewer(caller, tag_set)
    rules.check_state(tag_set, Action.REOPEN, revision)
    _check_can_reopen(tag_set)
    labeler_id = _lock_labeler(tag_set) if to == "labeler" else None
    if tag_set.labeler_id is not None:
        decisions.check_no_other_tag_set(tag_set, tag_set.labeler_id)
    values: dict[str, object] = {**_DECISION_RESET, "reason": reason}
    values |= _build_draft_values(caller) if labeler_id else _build_review_values(tag_set)
    author_id = caller.user_id
    deciding.update_tag_sets([tag_set.id], values, kind="reopen", author_id=author_id, note=reason)
    if labeler_id is not None:
        minutes = rules.get_claim_minutes(caller)
        drafts.claim_artifacts({tag_set.artifact_id: labeler_id}, minutes=minutes)
        skips.delete_skip(tag_set.artifact_id, labeler_id)
    statuses.update_statuses([tag_set.artifact_id])
    payload: ReopenedPayload = {
        **build_payload(tag_set),
        "reviewer_id": caller.user_id,
        "reason": reason,
        "to": to,
    }
    events.emit(emitted_events.REOPENED, payload)
    return reading.get(tag_set_id)


def _build_draft_values(caller: Caller) -> dict[str, object]:
    return {"status": TagSetStatus.DRAFT, "reviewer_id": caller.user_id}


def _build_review_values(tag_set: LockedTagSet) -> dict[str, object]:
    flags = [flag for flag in tag_set.flags if flag != "resubmitted"]
    return {
        "status": TagSetStatus.SUBMITTED,
        "reviewer_id": None,
        "flags": [*flags, "resubmitted"],
    }


def _check_can_reopen(tag_set: LockedTagSet) -> None:
    if tag_set.schema_id != tag_set.artifact_schema_id:
        raise errors.conflict(
            "The artifact has another schema now; create a new tag set.",
            schema_id=tag_set.artifact_schema_id,
        )
    other_merge_ids = [
        merge_id
        for merge_id in deciding.list_ids(
            tag_set.artifact_id, (TagSetStatus.ACCEPTED,), source="merge"
        )
        if merge_id != tag_set.id
    ]
    if other_merge_ids:
        raise errors.conflict(
            "This artifact has an accepted merge. Reopen the merge first.", accepted=other_merge_ids
        )
    if tag_set.source == "merge":
        for merge_id in deciding.list_ids(
            tag_set.artifact_id, (TagSetStatus.SUBMITTED,), source="merge"
        ):
            raise errors.conflict(
                "Another merge for this artifact is pending review; accept or reject it first.",
                tag_set_id=merge_id,
            )
    if tag_set.status == TagSetStatus.ACCEPTED or tag_set.source == "merge":
        return
    # Other tag sets may have replaced the rejected tag set.
    completed_ids = deciding.list_ids(tag_set.artifact_id, COMPLETED)
    if len(completed_ids) >= tag_set.required_labels:
        raise errors.conflict(
            "This artifact already has as many tag sets as its schema requires.",
            standing=completed_ids,
            labels_per_artifact=tag_set.required_labels,
        )


def _lock_labeler(tag_set: LockedTagSet) -> UUID:
    """Lock the labeler of a tag set, and return the labeler's id.

    Raises 400 if there is no labeler, or if the labeler can no longer label.
    """
    if tag_set.labeler_id is None or not lock_eligible_members([tag_set.labeler_id], Role.labeler):
        raise errors.invalid(
            "This tag set has no labeler who can edit it. Set `to` to `review`.", "to"
        )
    return tag_set.labeler_id
