"""A reviewer's verdict: accept, reject."""

from collections.abc import Iterable
from collections.abc import Set as AbstractSet
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

from app.identity.members.eligibility import lock_eligible
from app.kit import db, errors
from app.kit.errors import ApiError
from app.kit.permissions import Role
from app.kit.principal import Caller
from app.workflow.tag_sets.queries import beside, deciding, reading
from app.workflow.tag_sets.service import provenance, rules, skips, sources, statuses
from app.workflow.tag_sets.service.drafts import tell
from app.workflow.tag_sets.service.reviewing import check_review

RANK_STEP = 10**13
"""More milliseconds than any due time has: priority comes first, time decides among equals."""

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
DECIDED = {
    "claim_user_id": None,
    "claim_expires_at": None,
    "assignee_id": None,
    "assignee_team_id": None,
    "review_due_at": None,
    "escalated": False,
    "escalated_by": None,
    "escalated_at": None,
    "escalation_reason": None,
}
"""What a decision ends: all that is of the review."""


def review_rank(priority: int, at: datetime) -> int:
    """The place in the queue, the least first: by priority (0 to 100), then by time.

    The database's `review_rank_of` is the same: it moves what waits when its document's urgency
    changes.
    """
    milliseconds = (at - _EPOCH) // timedelta(milliseconds=1)
    return (100 - priority) * RANK_STEP + min(max(milliseconds, 0), RANK_STEP - 1)


def accept(
    tag_set_id: UUID,
    *,
    caller: Caller,
    revision: int | None,
    tags: list[Any] | None = None,
    note: str | None = None,
) -> Any:
    """Accept a submitted label set, with other tags in the reviewer's name if any.

    Raises 404; 403 on one's own; 409 `stale_precondition`, or `conflict` with `details.state`,
    `claim` of another reviewer, `assignee_id` or `assignee_team_id` of others (of a merge also as
    `check_sources` says), or `accepted`, the ids, when the schema asks for no more; 400
    `validation_error` or `required_fields_missing` on corrections.
    """
    held, sources = _lock_with_sources(tag_set_id)
    _check_decision(held, caller, revision)
    check_sources(caller, sources)
    terms = rules.terms(held.schema_version_id)
    _check_wanted(held)
    changes = _corrections(held, terms, tags, caller)
    kind = "correction" if changes else "accept"
    mark_accepted(held, changes, reviewer_id=caller.user_id, kind=kind, note=note)
    statuses.update_status(held.artifact_id)
    return reading.get(tag_set_id)


def _lock_with_sources(tag_set_id: UUID) -> tuple[Any, list[Any]]:
    found = deciding.lock_with_sources(tag_set_id)
    held = next((one for one in found if one.id == tag_set_id), None)
    if held is None:
        raise errors.not_found()
    return held, [one for one in found if one is not held]


def check_sources(caller: Caller, sources: Iterable[Any]) -> None:
    """Raise 409 `conflict` when one of a merge's sources, that waits for review, is in the hands of
    another reviewer: as reviewing it would, and with its `details.tag_set_id`."""
    for one in sources:
        if one.status == "submitted":
            try:
                check_review(caller, one)
            except ApiError as failure:
                failure.details = {**(failure.details or {}), "tag_set_id": one.id}
                raise


def _corrections(
    held: Any, terms: rules.Terms, tags: list[Any] | None, caller: Caller
) -> dict[str, Any]:
    """What other tags change of a label set. Raises 400."""
    checked = held.tags if tags is None else check(terms, held, tags)
    if not sources.may_claim(checked, caller):
        sources.set_sources(checked, held.tags)
    # Tags of before evidence was completed are no correction when they are sent as they were read.
    if held.tags in (checked, tags):
        return {}
    if held.source != "merge":
        return {"tags": checked}
    known = beside.provenance(held.id)
    return {
        "tags": checked,
        "provenance": provenance.corrected(known, held.tags, checked, terms.shapes),
    }


def enough(held: Any) -> list[UUID]:
    """The accepted label sets that stand for its document, which is locked, if no more are wanted.

    A merge stands for all, so nothing is wanted beside it; and it is wanted beside all others.
    """
    merged = beside.merges(held.artifact_id, ("accepted",))
    if merged or held.source == "merge":
        return merged
    accepted = deciding.in_states(held.artifact_id, ("accepted",))
    return accepted if len(accepted) >= held.labels_wanted else []


def _check_wanted(held: Any) -> None:
    accepted = enough(held)
    if accepted:
        raise errors.conflict(
            "The document has as many accepted label sets as its schema asks for.",
            accepted=accepted,
            labels_per_artifact=held.labels_wanted,
        )


def mark_accepted(
    held: Any, changes: dict[str, Any], *, reviewer_id: UUID | None, kind: str, note: str | None
) -> None:
    """Make it accepted, and say so: the one place that emits `tag_set.accepted` for a single one.

    A merge takes what still waits of its sources out of the queue.
    """
    values = {
        **DECIDED,
        **changes,
        "status": "accepted",
        "reviewer_id": reviewer_id,
        "decided_at": db.utc_now(),
        # The reason is a reviewer's.
        "reason": None if reviewer_id is None else note,
    }
    deciding.change(held.id, values, kind=kind, author_id=reviewer_id, note=note)
    if held.source == "merge":
        _supersede(held, reviewer_id)
    corrected = bool(changes)
    tell("accepted", held.id, held._asdict(), reviewer_id=reviewer_id, corrected=corrected)


def accept_unseen(held: Any, spared_by: str) -> None:
    """Accept it in nobody's name: the schema's policy asks for no reviewer. The revision notes what
    spared it the review."""
    mark_accepted(held, {}, reviewer_id=None, kind="accept", note=spared_by)


def _supersede(merge: Any, reviewer_id: UUID | None) -> None:
    sources = [UUID(one) for one in merge.merged_from]
    values = {
        **DECIDED,
        "status": "rejected",
        "reviewer_id": reviewer_id,
        "decided_at": db.utc_now(),
    }
    beside.supersede(sources, merge.id, values, author_id=reviewer_id)


def reject(
    tag_set_id: UUID, *, caller: Caller, revision: int | None, reason: str, send_to: str
) -> Any:
    """Reject a submitted label set: back to its labeler as a draft, or on to somebody else.

    With `pool` it stays rejected and the document is free for other labelers, and comes last for
    its own; with a member's id it stays rejected and that member gets a draft with its tags.

    Raises 404; 403 on one's own; 409 `stale_precondition`, or `conflict` with `details.state`,
    `claim` of another reviewer, `assignee_id` or `assignee_team_id` of others, `tag_set_id` of one
    in the way, or `rejections` when the schema lets no more go back; 400 on `send_to`.
    """
    held = lock(tag_set_id)
    _check_decision(held, caller, revision)
    heir = _heir(held, send_to)
    back = heir is not None and heir == held.labeler_id
    if back:
        _check_return(held)
    if heir is not None:
        check_has_none(held, heir)
    values = {
        **DECIDED,
        "status": "draft" if back else "rejected",
        "reviewer_id": caller.user_id,
        "decided_at": db.utc_now(),
        "reason": reason,
        "rejections": held.rejections + 1,
    }
    deciding.change(held.id, values, kind="reject", author_id=caller.user_id, note=reason)
    draft_id = _pass_on(held, heir, reason, caller) if heir and not back else None
    if heir is None and held.labeler_id is not None:
        skips.defer_artifacts({held.artifact_id: held.labeler_id}, reason)
    if heir is not None:
        deciding.take_claim(held.artifact_id, heir, minutes=rules.claim_minutes(caller))
    statuses.update_status(held.artifact_id)
    details = {"reviewer_id": caller.user_id, "reason": reason, "send_to": send_to}
    tell("rejected", held.id, held._asdict(), **details, draft_id=draft_id)
    return reading.get(tag_set_id)


def release_member(user_id: UUID) -> None:
    """Give back the reviews that somebody has claimed; may be done twice. What they were assigned
    is the review queue's to give back."""
    deciding.release_reviews(user_id)


def _heir(held: Any, send_to: str) -> UUID | None:
    """Who labels next; None: whoever takes the document from the pool."""
    if send_to == "pool":
        return None
    if send_to == "labeler":
        if held.labeler_id is None:
            raise errors.invalid("The label set has no labeler to go back to.", "send_to")
        labeler: UUID = held.labeler_id
        check_labels(labeler, lock_eligible([labeler], Role.labeler))
        return labeler
    heir = UUID(send_to)
    if not lock_eligible([heir], Role.labeler):
        raise errors.invalid("Must be a member who labels.", "send_to")
    return heir


def check_labels(labeler_id: UUID, labelers: AbstractSet[UUID]) -> None:
    """Raise 400 on `send_to` when a label set's labeler is not among those who still label."""
    if labeler_id not in labelers:
        raise errors.invalid(
            "Its labeler does not label here any more. Send it to the pool or to a member.",
            "send_to",
        )


def _check_return(held: Any) -> None:
    limit = rules.terms(held.schema_version_id).max_rejections
    rejections = held.rejections + held.earlier_rejections
    if limit is not None and rejections >= limit:
        raise errors.conflict(
            "It was sent back as often as the schema allows. Send it to the pool or to a member.",
            rejections=rejections,
            max_rejections=limit,
        )


def check_has_none(held: Any, heir: UUID) -> None:
    """Raise 409 when somebody who is to get a label set has another one of its document."""
    states = rules.states_in_the_way(held.labels_wanted)
    other = deciding.open_set(held.artifact_id, heir, states, but=held.id)
    if other is not None:
        raise errors.conflict(
            "The labeler has another label set of this document.", tag_set_id=other
        )


def _pass_on(held: Any, heir: UUID, reason: str, caller: Caller) -> UUID:
    values = {
        "artifact_id": held.artifact_id,
        "schema_id": held.schema_id,
        "schema_version_id": held.schema_version_id,
        "labeler_id": heir,
        "tags": held.tags,
        "reason": reason,
        "earlier_rejections": held.rejections + held.earlier_rejections + 1,
    }
    draft_id = deciding.insert_new(values, author_id=caller.user_id)
    tell("created", draft_id, values)
    return draft_id


def lock(tag_set_id: UUID) -> Any:
    """A label set and its document, locked. Raises 404."""
    held = deciding.lock(tag_set_id)
    if held is None:
        raise errors.not_found()
    return held


def _check_decision(held: Any, caller: Caller, revision: int | None) -> None:
    rules.check_reviewer(caller, held)
    rules.check_state(held, "submitted", revision)
    check_review(caller, held)


def check(terms: rules.Terms, held: Any, tags: list[Any]) -> list[dict[str, Any]]:
    """The tags in canonical form, complete. Raises 400."""
    checked = rules.check_tags(terms, tags, held)
    rules.check_complete(terms, checked)
    return checked
