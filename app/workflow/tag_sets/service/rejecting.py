"""Reject single tag sets, and reopen accepted and rejected tag sets."""

from collections.abc import Collection
from typing import Any
from uuid import UUID

from app.identity.members.eligibility import lock_eligible_members
from app.kit import errors, events
from app.kit.permissions import Role
from app.kit.principal import Caller
from app.workflow.tag_sets import transitions
from app.workflow.tag_sets.queries import deciding, drafts, reading, skips, statuses
from app.workflow.tag_sets.queries.deciding import LockedTagSet
from app.workflow.tag_sets.queries.reading import TagSetRow
from app.workflow.tag_sets.service import decisions, rules
from app.workflow.tag_sets.transitions import (
    COMPLETED,
    Action,
    ReopenedPayload,
    TagSetStatus,
    build_payload,
    build_rejected_payload,
)

_DECISION_RESET = {
    **decisions.REVIEW_RESET,
    "decided_at": None,
    "superseded_by": None,
    "reopened": True,
}


def reject(
    tag_set_id: UUID, *, caller: Caller, revision: int | None, reason: str, send_to: str
) -> TagSetRow:
    """Reject a submitted tag set and send its artifact to the next labeler.

    If `send_to` is `labeler`, the tag set becomes a draft of its labeler again. If it is `pool`,
    the tag set stays rejected, and the artifact is offered only to other labelers. If it is a
    member's id, the tag set stays rejected, and that member gets a draft with the same tags.

    Raises 404; 403 for the caller's own tag set; 400 for an invalid `send_to`; 409
    `stale_precondition`; 409 `conflict`. The details of a conflict are `state`, the details of
    `check_review`, `tag_set_id` if the next labeler has another tag set, or `rejections` if the
    schema's rejection limit is reached.
    """
    tag_set = decisions.lock(tag_set_id)
    decisions.check_decision(Action.REJECT, tag_set, caller, revision)
    next_labeler = _lock_next_labeler(tag_set, send_to)
    to_labeler = next_labeler is not None and next_labeler == tag_set.labeler_id
    if to_labeler:
        _check_rejection_limit(tag_set)
    if next_labeler is not None:
        check_no_other_tag_set(tag_set, next_labeler)
    author_id = caller.user_id
    status = TagSetStatus.DRAFT if to_labeler else TagSetStatus.REJECTED
    values = decisions.build_decision(
        status, author_id, reason=reason, rejections=tag_set.rejections + 1
    )
    deciding.update_tag_sets([tag_set.id], values, kind="reject", author_id=author_id, note=reason)
    draft_id = _send_to_next_labeler(tag_set, next_labeler, reason, caller)
    statuses.update_statuses([tag_set.artifact_id])
    payload = build_rejected_payload(
        tag_set, reviewer_id=caller.user_id, reason=reason, send_to=send_to, draft_id=draft_id
    )
    events.emit(transitions.REJECTED, payload)
    return reading.get(tag_set_id)


def _send_to_next_labeler(
    tag_set: LockedTagSet, next_labeler: UUID | None, reason: str, caller: Caller
) -> UUID | None:
    """Send the artifact to the next labeler or to the pool; return a new draft's id or None."""
    if next_labeler is None:
        if tag_set.labeler_id is not None:
            skips.record_skips_after_rejection({tag_set.artifact_id: tag_set.labeler_id}, reason)
        return None
    draft_id = None
    if next_labeler != tag_set.labeler_id:
        draft_id = _create_next_draft(tag_set, next_labeler, reason, caller)
    drafts.claim_artifacts(
        {tag_set.artifact_id: next_labeler}, minutes=rules.get_claim_minutes(caller)
    )
    return draft_id


def _lock_next_labeler(tag_set: LockedTagSet, send_to: str) -> UUID | None:
    """Lock the next labeler and return the id, or return None for the pool.

    Raises 400 on the field `send_to` if the next labeler is not a member who can label.
    """
    if send_to == "pool":
        return None
    if send_to == "labeler":
        if tag_set.labeler_id is None:
            message = "This tag set has no labeler. Set `send_to` to `pool` or to a member's id."
            raise errors.invalid(message, "send_to")
        labeler_ids = lock_eligible_members([tag_set.labeler_id], Role.labeler)
        check_labeler_is_eligible(tag_set.labeler_id, labeler_ids)
        return tag_set.labeler_id
    next_labeler = UUID(send_to)
    if not lock_eligible_members([next_labeler], Role.labeler):
        raise errors.invalid("Must be the id of a member who can label.", "send_to")
    return next_labeler


def check_labeler_is_eligible(labeler_id: UUID, eligible_ids: Collection[UUID]) -> None:
    """Raise 400 on the field `send_to` if the labeler is not one of the eligible users."""
    if labeler_id not in eligible_ids:
        message = "The labeler may no longer label. Set `send_to` to another value, such as `pool`."
        raise errors.invalid(message, "send_to")


def _check_rejection_limit(tag_set: LockedTagSet) -> None:
    limit = rules.get_version_rules(tag_set.schema_version_id).max_rejections
    rejections = tag_set.rejections + tag_set.earlier_rejections
    if limit is not None and rejections >= limit:
        raise errors.conflict(
            "The tag set has reached the schema's rejection limit. Set `send_to` to `pool` or to"
            " the id of another member.",
            rejections=rejections,
            max_rejections=limit,
        )


def check_no_other_tag_set(tag_set: LockedTagSet, next_labeler: UUID) -> None:
    """Raise 409 if the next labeler has another tag set for the artifact in a blocking status."""
    blocking = rules.get_blocking_statuses(tag_set.required_labels)
    other_id = deciding.find_id_by_labeler(
        tag_set.artifact_id, next_labeler, blocking, excluded_id=tag_set.id
    )
    if other_id is not None:
        message = "The labeler already has another tag set for this artifact."
        raise errors.conflict(message, tag_set_id=other_id)


def _create_next_draft(
    tag_set: LockedTagSet, next_labeler: UUID, reason: str, caller: Caller
) -> UUID:
    values = {
        "artifact_id": tag_set.artifact_id,
        "schema_id": tag_set.schema_id,
        "schema_version_id": tag_set.schema_version_id,
        "labeler_id": next_labeler,
        "tags": tag_set.tags,
        "reason": reason,
        "earlier_rejections": tag_set.rejections + tag_set.earlier_rejections + 1,
    }
    draft = drafts.insert_tag_set(values, author_id=caller.user_id)
    events.emit(transitions.CREATED, build_payload(draft))
    return draft.id


def reopen(
    tag_set_id: UUID, *, caller: Caller, revision: int | None, reason: str, to: str
) -> TagSetRow:
    """Reopen an accepted or rejected tag set and emit `tag_set.reopened`.

    If `to` is `review`, the tag set is pending review again, with the flag `resubmitted`. If `to`
    is `labeler`, it becomes a draft of its labeler. A reopened tag set is never auto-accepted.

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
        check_no_other_tag_set(tag_set, tag_set.labeler_id)
    values = {
        **_DECISION_RESET,
        "reason": reason,
        **(_build_draft_values(caller) if labeler_id else _build_review_values(tag_set)),
    }
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
    events.emit(transitions.REOPENED, payload)
    return reading.get(tag_set_id)


def _build_draft_values(caller: Caller) -> dict[str, Any]:
    return {"status": TagSetStatus.DRAFT, "reviewer_id": caller.user_id}


def _build_review_values(tag_set: LockedTagSet) -> dict[str, Any]:
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

    Raises 400 if there is no labeler, or if the labeler may no longer label.
    """
    if tag_set.labeler_id is None or not lock_eligible_members([tag_set.labeler_id], Role.labeler):
        raise errors.invalid(
            "This tag set has no labeler who can edit it. Set `to` to `review`.", "to"
        )
    return tag_set.labeler_id
