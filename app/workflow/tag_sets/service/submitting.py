"""Submission of drafts for review, and automatic acceptance.

Tag sets are accepted automatically by sampling, by confidence, and by agreement; see
docs/decisions/0025. A tag set that a reviewer sent back is never accepted automatically.
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
"""The limit of the flag `low_confidence`, unless the schema sets another one."""


def submit(tag_set_id: UUID, *, caller: Caller, revision: int | None) -> TagSetRow:
    """Submit a draft for review, or accept it at once if the schema's policy requires no review.

    Automatic acceptance is by sampling, by confidence, or by agreement with the artifact's other
    tag sets. Raises 404, 403, 409 (`conflict`, `stale_precondition`), 400
    `required_fields_missing`, or 400 `validation_error` when the document has changed so that a tag
    does not fit any more.
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
    # If the quorum is reached already, a reviewer decides on a further tag set.
    if decisions.find_quorum(tag_set):
        return
    exemption = find_exemption(tag_set, terms, caller)
    if exemption is not None:
        decisions.accept_automatically(tag_set, exemption)
    for agreeing in apply_agreement(tag_set, terms):
        decisions.accept_automatically(agreeing, AGREEMENT)


def _build_flags(tag_set: LockedTagSet, terms: rules.Terms) -> list[str]:
    configured = terms.auto_accept_confidence
    limit = LOW_CONFIDENCE if configured is None else configured
    doubtful = any(
        tag["source"] == "model" and tag["confidence"] is not None and tag["confidence"] < limit
        for tag in tag_set.tags
    )
    flags = ["low_confidence"] if doubtful else []
    return [*flags, "resubmitted"] if was_sent_back(tag_set) else flags


SAMPLING, CONFIDENCE, AGREEMENT = "sampling", "confidence", "agreement"
"""Reasons of an automatic acceptance, as the revision notes them."""
RULES_PREFIX = "rules-"
"""The beginning of the model version of predictions by rules."""


def is_sampled(artifact_id: UUID, labeler_id: UUID | None, rate: float) -> bool:
    """Return whether a labeler's work on an artifact is in the share `rate` (0..1) to review.

    A keyed hash of both ids decides, so nobody can predict or change the result, and a draft that
    is discarded and started again gets the same one. A higher rate includes every tag set that a
    lower rate would.
    """
    payload = artifact_id.bytes + (labeler_id.bytes if labeler_id else b"")
    digest = container.keyring().sign("review_sampling", payload)
    return int.from_bytes(digest[:8], "big") < rate * 2**64


def is_confident(tags: list[dict[str, Any]], least: float | None) -> bool:
    """Return whether a model made each tag with at least the confidence `least`.

    The result is false when there are no tags, when `least` is None, and when a person made one of
    the tags: a person's own confidence does not replace a review.
    """
    if least is None or not tags:
        return False
    return all(
        tag["source"] == "model" and tag["confidence"] is not None and tag["confidence"] >= least
        for tag in tags
    )


def was_sent_back(tag_set: LockedTagSet) -> bool:
    """Return whether a reviewer sent back this tag set or an earlier one by the same labeler.

    The reviewer wants to see it again, and the labeler may have seen the other tag sets.
    """
    return bool(tag_set.rejections or tag_set.reopened or tag_set.retried)


def find_exemption(tag_set: LockedTagSet, terms: rules.Terms, caller: Caller) -> str | None:
    """Return why a submitted tag set needs no review: `SAMPLING`, `CONFIDENCE`, or None.

    Other tag sets of the artifact are not considered. Confidence is a reason only where a model
    alone decided: the person removed no predicted tags and chose none, and no tag set of the
    artifact was rejected. The confidence of rules is no reason: nothing has calibrated it.
    """
    if was_sent_back(tag_set):
        return None
    if not is_sampled(tag_set.artifact_id, tag_set.labeler_id, terms.sample_rate):
        return SAMPLING
    is_unsure = (tag_set.prediction_model_version or "").startswith(RULES_PREFIX)
    is_unsure = is_unsure or not is_confident(tag_set.tags, terms.auto_accept_confidence)
    if tag_set.earlier_rejections or is_unsure or _has_chosen_tags(tag_set, caller):
        return None
    return CONFIDENCE


def _has_chosen_tags(tag_set: LockedTagSet, caller: Caller) -> bool:
    """Return whether a person removed predicted tags, or added some of a later prediction.

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

    The artifact of `tag_set` is locked. All its submitted tag sets are accepted when there are
    exactly as many independent ones as the schema requires, none was sent back, and their mean
    agreement reaches the schema's limit. Below the limit the submitted ones get the flag
    `disagreement`; otherwise the flag is removed. A tag set that a reviewer has claimed or that is
    escalated is left to the reviewer.
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
    # If there are more than required, a reviewer chooses among them.
    surplus = len(group) > tag_set.required_labels
    if disagree or surplus or any(was_sent_back(row) for row in group):
        return []
    return [row for row in submitted if row.claimed_by is None and not row.escalated]
