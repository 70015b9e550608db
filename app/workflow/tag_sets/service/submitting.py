"""Submission of drafts for review, and automatic acceptance.

Tag sets are accepted automatically by sampling, by confidence, and by agreement; see
docs/decisions/0025. A tag set that a reviewer returned is never accepted automatically.
"""

from typing import Any
from uuid import UUID

from app.engines.agreement import align_rows, has_agreement
from app.kit import container, db, events
from app.kit.principal import Caller
from app.workflow.tag_sets import emitted_events
from app.workflow.tag_sets.queries import deciding, reading, recording, related, revisions, statuses
from app.workflow.tag_sets.queries.deciding import LockedTagSet
from app.workflow.tag_sets.queries.reading import TagSetRow
from app.workflow.tag_sets.service import decisions, provenance, rules
from app.workflow.tag_sets.transitions import COMPLETED, NOT_INDEPENDENT, Action, TagSetStatus

LOW_CONFIDENCE = 0.5
"""The default limit: a model's tag with a lower confidence sets the flag `low_confidence`."""


def submit(tag_set_id: UUID, *, caller: Caller, revision: int | None) -> TagSetRow:
    """Submit a draft for review, or accept it if the schema's policy requires no review.

    Automatic acceptance is by sampling, by confidence, or by agreement with the artifact's other
    tag sets. Raises 404; 403; 409 `conflict` or `stale_precondition`; 400
    `required_fields_missing`; 400 `validation_error` if a tag no longer fits the document.
    """
    tag_set = decisions.lock(tag_set_id)
    rules.check_labeler(caller, tag_set)
    rules.check_state(tag_set, Action.SUBMIT, revision)
    terms = rules.get_terms(tag_set.schema_version_id)
    rules.check_tags(terms, tag_set.tags, tag_set, complete=True)
    now = db.utc_now()
    values = {
        "status": TagSetStatus.SUBMITTED,
        "submitted_at": now,
        "decided_at": None,
        "reviewer_id": None,
        "reason": None,
        "flags": _build_flags(tag_set, terms),
    }
    recording.change([tag_set_id], values, kind="submit", author_id=caller.user_id)
    deciding.release_claim(tag_set.artifact_id, tag_set.labeler_id)
    events.emit(emitted_events.SUBMITTED, emitted_events.build_payload(tag_set))
    _accept_automatically(tag_set, terms, caller)
    statuses.update_statuses([tag_set.artifact_id])
    return reading.get_existing(tag_set_id)


def _accept_automatically(tag_set: LockedTagSet, terms: rules.Terms, caller: Caller) -> None:
    # If the quorum is already reached, a reviewer decides on additional tag sets.
    if decisions.find_quorum(tag_set):
        return
    exemption = find_exemption(tag_set, terms, caller)
    if exemption is not None:
        decisions.accept_automatically(tag_set, exemption)
    for agreeing_tag_set in apply_agreement(tag_set, terms):
        decisions.accept_automatically(agreeing_tag_set, AGREEMENT)


def _build_flags(tag_set: LockedTagSet, terms: rules.Terms) -> list[str]:
    schema_limit = terms.auto_accept_confidence
    limit = LOW_CONFIDENCE if schema_limit is None else schema_limit
    is_doubtful = any(
        tag["source"] == "model" and tag["confidence"] is not None and tag["confidence"] < limit
        for tag in tag_set.tags
    )
    flags = ["low_confidence"] if is_doubtful else []
    return [*flags, "resubmitted"] if was_returned(tag_set) else flags


SAMPLING, CONFIDENCE, AGREEMENT = "sampling", "confidence", "agreement"
"""Reasons for an automatic acceptance, as stored in the note of the revision."""
RULES_PREFIX = "rules-"
"""The beginning of the model version of predictions by rules."""


def is_sampled(artifact_id: UUID, labeler_id: UUID | None, rate: float) -> bool:
    """Return whether a labeler's tag set of an artifact is in the sample that needs a review.

    `rate` (0..1) is the share of tag sets in the sample. A keyed hash of both ids decides, so
    nobody can predict or change the result, and a draft that is discarded and started again gets
    the same result. The sample of a higher rate includes the sample of every lower rate.
    """
    payload = artifact_id.bytes + (labeler_id.bytes if labeler_id else b"")
    digest = container.keyring().sign("review_sampling", payload)
    return int.from_bytes(digest[:8], "big") < rate * 2**64


def is_confident(tags: list[dict[str, Any]], min_confidence: float | None) -> bool:
    """Return whether a model made each tag with at least the confidence `min_confidence`.

    The result is false if there are no tags, if `min_confidence` is None, or if a person made one
    of the tags: a person's own confidence does not replace a review.
    """
    if min_confidence is None or not tags:
        return False
    return all(
        tag["source"] == "model"
        and tag["confidence"] is not None
        and tag["confidence"] >= min_confidence
        for tag in tags
    )


def was_returned(tag_set: LockedTagSet) -> bool:
    """Return whether a reviewer returned this tag set or an earlier tag set by the same labeler.

    Such a tag set needs another review, and the labeler may have seen the other tag sets.
    """
    return bool(tag_set.rejections or tag_set.reopened or tag_set.retried)


def find_exemption(tag_set: LockedTagSet, terms: rules.Terms, caller: Caller) -> str | None:
    """Return the reason why a submitted tag set needs no review: `SAMPLING`, `CONFIDENCE` or None.

    Agreement with other tag sets is not considered. Confidence is a reason only if the model alone
    decided: the person removed no predicted tags and added no tags of a later prediction, and no
    tag set of the artifact was rejected. Confidence of rules is no reason, because it is not
    calibrated.
    """
    if was_returned(tag_set):
        return None
    if not is_sampled(tag_set.artifact_id, tag_set.labeler_id, terms.sample_rate):
        return SAMPLING
    is_unsure = (tag_set.prediction_model_version or "").startswith(RULES_PREFIX)
    is_unsure = is_unsure or not is_confident(tag_set.tags, terms.auto_accept_confidence)
    if tag_set.earlier_rejections or is_unsure or _has_chosen_tags(tag_set, caller):
        return None
    return CONFIDENCE


def _has_chosen_tags(tag_set: LockedTagSet, caller: Caller) -> bool:
    """Return whether a person removed predicted tags, or added tags of a later prediction.

    API keys are trusted, as with the source of tags.
    """
    if caller.api_key_id is not None:
        return False
    initial = revisions.get_tags(tag_set.id, (1,)).get(1, [])
    before, after = (
        [tag for tag in tags if tag["source"] == "model"] for tags in (initial, tag_set.tags)
    )
    return bool(
        provenance.find_missing_tags(before, tag_set.tags)
        or provenance.find_missing_tags(after, before)
    )


def apply_agreement(tag_set: LockedTagSet, terms: rules.Terms) -> list[LockedTagSet]:
    """Update the flag `disagreement` and return the tag sets that agreement accepts.

    The artifact of `tag_set` must be locked. All submitted tag sets of the artifact are accepted if
    it has exactly as many independent tag sets as the schema requires, a reviewer has returned none
    of them, and their mean agreement reaches the schema's limit. Below the limit, the submitted tag
    sets get the flag `disagreement`; otherwise the flag is removed. Claimed and escalated tag sets
    are left to the reviewer.
    """
    limit = terms.auto_accept_agreement
    if limit is None or tag_set.required_labels == 1:
        return []
    group = [
        row
        for row in deciding.lock_document(tag_set.artifact_id)
        if row.status in COMPLETED and row.source not in NOT_INDEPENDENT
    ]
    if len(group) < tag_set.required_labels:
        return []
    submitted = [row for row in group if row.status == TagSetStatus.SUBMITTED]
    lineup = align_rows([row.tags for row in group], terms.shapes)
    disagree = not has_agreement(lineup.sets, terms.shapes, limit)
    related.mark_disagreement([row.id for row in submitted], disagree=disagree)
    # If there are more tag sets than required, a reviewer chooses among them.
    has_surplus = len(group) > tag_set.required_labels
    if disagree or has_surplus or any(was_returned(row) for row in group):
        return []
    return [row for row in submitted if row.claimed_by is None and not row.escalated]
