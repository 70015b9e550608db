"""Review decisions on single tag sets: accept and reject."""

from collections.abc import Collection, Iterable
from typing import Any
from uuid import UUID

from app.identity.members.eligibility import lock_eligible_members
from app.kit import db, errors, events
from app.kit.errors import ApiError
from app.kit.permissions import Role
from app.kit.principal import Caller
from app.workflow.tag_sets import emitted_events
from app.workflow.tag_sets.emitted_events import build_accepted_payload, build_rejected_payload
from app.workflow.tag_sets.queries import deciding, drafts, locking, reading, skips, statuses
from app.workflow.tag_sets.queries.locking import LockedReview, LockedTagSet
from app.workflow.tag_sets.queries.reading import TagSetRow
from app.workflow.tag_sets.service import provenance, rules
from app.workflow.tag_sets.transitions import Action, TagSetStatus

REVIEW_RESET: dict[str, object] = {
    **dict.fromkeys(("claim_user_id", "claim_expires_at", "assignee_id", "assignee_team_id")),
    **dict.fromkeys(("review_due_at", "escalated_by", "escalated_at", "escalation_reason")),
    "escalated": False,
}
"""The initial values of the columns of a review, to which a decision resets these columns."""


def accept(
    tag_set_id: UUID,
    *,
    caller: Caller,
    revision: int | None,
    tags: list[Any] | None = None,
    note: str | None = None,
) -> TagSetRow:
    """Accept a submitted tag set, optionally with corrected `tags`, and emit `tag_set.accepted`.

    Raises 404; 403 for the caller's own tag set; 400 `validation_error` or
    `required_fields_missing` for invalid corrections; 409 `stale_precondition`; 409 `conflict`. The
    details of a conflict are `state`, the details of `check_review` or `check_sources`, or
    `accepted`: the ids of the accepted tag sets, if the schema requires no more tag sets.
    """
    tag_set, sources = _lock_with_sources(tag_set_id)
    check_decision(Action.ACCEPT, tag_set, caller, revision)
    check_sources(caller, sources)
    _check_quorum_not_reached(tag_set)
    changes = _build_corrections(tag_set, tags, caller)
    mark_accepted(tag_set, changes, reviewer_id=caller.user_id, note=note)
    statuses.update_statuses([tag_set.artifact_id])
    return reading.get(tag_set_id)


def _lock_with_sources(tag_set_id: UUID) -> tuple[LockedTagSet, list[LockedTagSet]]:
    rows = locking.lock_with_sources(tag_set_id)
    tag_set = errors.require_found(next((row for row in rows if row.id == tag_set_id), None))
    return tag_set, [row for row in rows if row is not tag_set]


def check_sources(caller: Caller, sources: Iterable[LockedTagSet]) -> None:
    """Check that the caller may review the submitted sources of a merge.

    Raises the errors of `check_review`, with the id of the source as `details.tag_set_id`.
    """
    for source in sources:
        if source.status == "submitted":
            try:
                rules.check_review(caller, source)
            except ApiError as failure:
                failure.details = {**(failure.details or {}), "tag_set_id": source.id}
                raise


def _build_corrections(
    tag_set: LockedTagSet, tags: list[Any] | None, caller: Caller
) -> dict[str, object]:
    """Build the new values of corrected columns, or {}. Raises 400 for invalid corrections."""
    if tags is None:
        return {}
    version_rules = rules.get_version_rules(tag_set.schema_version_id)
    checked_tags = rules.check_tags(version_rules, tags, tag_set, complete=True)
    if not provenance.can_keep_sources(checked_tags, caller):
        provenance.set_sources(checked_tags, tag_set.tags)
    # Tags of older releases have incomplete evidence. Sending them unchanged is not a correction.
    if tag_set.tags in (checked_tags, tags):
        return {}
    if tag_set.source != "merge":
        return {"tags": checked_tags}
    known_entries = deciding.get_provenance(tag_set.id)
    entries = provenance.correct_entries(
        known_entries, tag_set.tags, checked_tags, version_rules.field_specs
    )
    return {"tags": checked_tags, "provenance": entries}


def find_quorum(tag_set: LockedTagSet) -> list[UUID]:
    """Return the ids of the artifact's accepted tag sets if they reach the quorum, otherwise [].

    The artifact must be locked. One accepted merge is a quorum. If `tag_set` is a merge, only
    accepted merges are considered.
    """
    merge_ids = deciding.list_ids(tag_set.artifact_id, (TagSetStatus.ACCEPTED,), source="merge")
    if merge_ids or tag_set.source == "merge":
        return merge_ids
    accepted_ids = deciding.list_ids(tag_set.artifact_id, (TagSetStatus.ACCEPTED,))
    return accepted_ids if len(accepted_ids) >= tag_set.required_labels else []


def _check_quorum_not_reached(tag_set: LockedTagSet) -> None:
    accepted_ids = find_quorum(tag_set)
    if accepted_ids:
        raise errors.conflict(
            "This artifact already has an accepted merge, or as many accepted tag sets as its"
            " schema requires.",
            accepted=accepted_ids,
            labels_per_artifact=tag_set.required_labels,
        )


def mark_accepted(
    tag_set: LockedTagSet,
    changes: dict[str, object],
    *,
    reviewer_id: UUID | None,
    note: str | None,
) -> None:
    """Mark a locked tag set as accepted, supersede a merge's sources, and emit `tag_set.accepted`.

    Every acceptance of a single tag set calls this function. `changes` maps corrected columns to
    their new values. If `reviewer_id` is None, the tag set is accepted automatically, and `note` is
    the reason, which is stored only in the revision.
    """
    reason = None if reviewer_id is None else note
    values = build_decision(TagSetStatus.ACCEPTED, reviewer_id, reason=reason, **changes)
    kind = "correction" if changes else "accept"
    deciding.update_tag_sets([tag_set.id], values, kind=kind, author_id=reviewer_id, note=note)
    if tag_set.source == "merge":
        _supersede_sources(tag_set, reviewer_id)
    payload = build_accepted_payload(tag_set, reviewer_id=reviewer_id, corrected=bool(changes))
    events.emit(emitted_events.ACCEPTED, payload)


def _supersede_sources(merge: LockedTagSet, reviewer_id: UUID | None) -> None:
    source_ids = [UUID(source_id) for source_id in merge.merged_from or ()]
    values = build_decision(TagSetStatus.REJECTED, reviewer_id)
    deciding.supersede(source_ids, merge.id, values, reviewer_id)


def reject(
    tag_set_id: UUID, *, caller: Caller, revision: int | None, reason: str, send_to: str
) -> TagSetRow:
    """Reject a submitted tag set, send its artifact to `send_to`, and emit `tag_set.rejected`.

    If `send_to` is `labeler`, the tag set becomes a draft of its labeler again. If it is `pool`,
    the tag set stays rejected, and the artifact is offered only to other labelers. If it is a
    member's id, the tag set stays rejected, and that member gets a draft with the same tags.

    Raises 404; 403 for the caller's own tag set; 400 for an invalid `send_to`; 409
    `stale_precondition`; 409 `conflict`. The details of a conflict are `state`, the details of
    `check_review`, `tag_set_id` if the next labeler has another tag set, or `rejections` if the
    schema's rejection limit is reached.
    """
    tag_set = lock(tag_set_id)
    check_decision(Action.REJECT, tag_set, caller, revision)
    next_labeler_id = _lock_next_labeler(tag_set, send_to)
    is_returned = next_labeler_id is not None and next_labeler_id == tag_set.labeler_id
    if is_returned:
        _check_rejection_limit(tag_set)
    if next_labeler_id is not None:
        check_no_other_tag_set(tag_set, next_labeler_id)
    author_id = caller.user_id
    status = TagSetStatus.DRAFT if is_returned else TagSetStatus.REJECTED
    values = build_decision(status, author_id, reason=reason, rejections=tag_set.rejections + 1)
    deciding.update_tag_sets([tag_set.id], values, kind="reject", author_id=author_id, note=reason)
    draft_id = _send_to_next_labeler(tag_set, next_labeler_id, reason, caller)
    statuses.update_statuses([tag_set.artifact_id])
    payload = build_rejected_payload(
        tag_set, reviewer_id=caller.user_id, reason=reason, send_to=send_to, draft_id=draft_id
    )
    events.emit(emitted_events.REJECTED, payload)
    return reading.get(tag_set_id)


def _send_to_next_labeler(
    tag_set: LockedTagSet, next_labeler_id: UUID | None, reason: str, caller: Caller
) -> UUID | None:
    """Send the artifact to the next labeler or to the pool; return a new draft's id or None."""
    if next_labeler_id is None:
        if tag_set.labeler_id is not None:
            skips.record_skips_after_rejection({tag_set.artifact_id: tag_set.labeler_id}, reason)
        return None
    draft_id = None
    if next_labeler_id != tag_set.labeler_id:
        draft_id = _create_next_draft(tag_set, next_labeler_id, reason, caller)
    drafts.claim_artifacts(
        {tag_set.artifact_id: next_labeler_id}, minutes=rules.get_claim_minutes(caller)
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
    next_labeler_id = UUID(send_to)
    if not lock_eligible_members([next_labeler_id], Role.labeler):
        raise errors.invalid("Must be the id of a member who can label.", "send_to")
    return next_labeler_id


def check_labeler_is_eligible(labeler_id: UUID, eligible_ids: Collection[UUID]) -> None:
    """Raise 400 on the field `send_to` if the labeler is not one of the eligible users."""
    if labeler_id not in eligible_ids:
        message = "The labeler can no longer label. Set `send_to` to another value, such as `pool`."
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


def check_no_other_tag_set(tag_set: LockedTagSet, next_labeler_id: UUID) -> None:
    """Raise 409 if the next labeler has another tag set for the artifact in a blocking status."""
    blocking_statuses = rules.get_blocking_statuses(tag_set.required_labels)
    other_id = deciding.find_id_by_labeler(
        tag_set.artifact_id, next_labeler_id, blocking_statuses, excluded_id=tag_set.id
    )
    if other_id is not None:
        message = "The labeler already has another tag set for this artifact."
        raise errors.conflict(message, tag_set_id=other_id)


def _create_next_draft(
    tag_set: LockedTagSet, next_labeler_id: UUID, reason: str, caller: Caller
) -> UUID:
    values = {
        "artifact_id": tag_set.artifact_id,
        "schema_id": tag_set.schema_id,
        "schema_version_id": tag_set.schema_version_id,
        "labeler_id": next_labeler_id,
        "tags": tag_set.tags,
        "reason": reason,
        "earlier_rejections": tag_set.rejections + tag_set.earlier_rejections + 1,
    }
    draft = drafts.insert_tag_set(values, author_id=caller.user_id)
    events.emit(emitted_events.CREATED, emitted_events.build_payload(draft))
    return draft.id


def lock(tag_set_id: UUID) -> LockedTagSet:
    """Lock a tag set and its artifact and return the tag set. Raises 404 if it does not exist."""
    return errors.require_found(next(iter(locking.lock([tag_set_id])), None))


def check_decision(
    action: Action,
    tag_set: LockedTagSet | LockedReview,
    caller: Caller,
    revision: int | None,
    team_ids: Collection[UUID] | None = None,
) -> None:
    """Check that the caller may decide on the tag set now, and that its revision is `revision`.

    If `revision` is None, the revision is not checked. `team_ids` are the ids of the caller's
    teams; if None, they are read from the database. Raises the errors of `check_reviewer`,
    `check_state` and `check_review`, in this order.
    """
    rules.check_reviewer(caller, tag_set)
    rules.check_state(tag_set, action, revision)
    rules.check_review(caller, tag_set, team_ids=team_ids)


def build_decision(
    status: TagSetStatus, reviewer_id: UUID | None, **values: object
) -> dict[str, object]:
    """Build the new column values of a decision, which ends the review, and add `values`."""
    decision = {"status": status, "reviewer_id": reviewer_id, "decided_at": db.utc_now()}
    return {**REVIEW_RESET, **decision, **values}
