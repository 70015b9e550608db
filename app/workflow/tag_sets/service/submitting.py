"""Submission of drafts for review, and automatic acceptance.

Tag sets are accepted automatically because of their confidence or agreement, or because they are
not in the review sample; see docs/decisions/0025. A tag set that a reviewer has returned is never
accepted automatically.
"""

from typing import Any
from uuid import UUID

from app.engines.agreement.measures import has_agreement
from app.engines.agreement.rows import align_rows
from app.kit import container, db, events
from app.kit.principal import Caller
from app.workflow.tag_sets import emitted_events
from app.workflow.tag_sets.queries import (
    deciding,
    drafts,
    locking,
    reading,
    related,
    revisions,
    statuses,
)
from app.workflow.tag_sets.queries.locking import LockedTagSet
from app.workflow.tag_sets.queries.reading import TagSetRow
from app.workflow.tag_sets.service import decisions, ports, provenance, rules
from app.workflow.tag_sets.transitions import COMPLETED, DEPENDENT_SOURCES, Action, TagSetStatus

LOW_CONFIDENCE = 0.5
"""The confidence limit (0 to 1) of schemas whose review policy has no `auto_accept_confidence`.

A tag set gets the flag `low_confidence` if a tag by a model has a lower confidence."""


def submit(tag_set_id: UUID, *, caller: Caller, revision: int | None) -> TagSetRow:
    """Submit a draft for review, or accept it if the schema's policy requires no review.

    Automatic acceptance is by sampling, by confidence, or by agreement with the artifact's other
    tag sets. An acceptance by agreement includes the other submitted tag sets. Releases the
    labeler's claim, and emits `tag_set.submitted` and a `tag_set.accepted` for each acceptance.
    Raises 404; 403 for another labeler's draft; 409 `conflict` if the tag set is not a draft; 409
    `stale_precondition`; 400 `required_fields_missing`; 400 `validation_error` if a tag no longer
    fits the document.
    """
    tag_set = decisions.lock(tag_set_id)
    rules.check_labeler(caller, tag_set)
    rules.check_state(tag_set, Action.SUBMIT, revision)
    version_rules = rules.get_version_rules(tag_set.schema_version_id)
    rules.check_tags(version_rules, tag_set.tags, tag_set, complete=True)
    now = db.utc_now()
    values = {
        "status": TagSetStatus.SUBMITTED,
        "submitted_at": now,
        "decided_at": None,
        "reviewer_id": None,
        "reason": None,
        "flags": _build_flags(tag_set, version_rules),
    }
    deciding.update_tag_sets([tag_set_id], values, kind="submit", author_id=caller.user_id)
    drafts.release_claim(tag_set.artifact_id, tag_set.labeler_id)
    events.emit(emitted_events.SUBMITTED, emitted_events.build_payload(tag_set))
    _accept_automatically(tag_set, version_rules, caller)
    statuses.update_statuses([tag_set.artifact_id])
    return reading.get(tag_set_id)


def _accept_automatically(
    tag_set: LockedTagSet, version_rules: rules.VersionRules, caller: Caller
) -> None:
    # If the quorum is already reached, a reviewer decides on additional tag sets.
    if decisions.find_quorum(tag_set):
        return
    exemption = find_exemption(tag_set, version_rules, caller)
    if exemption is not None:
        decisions.mark_accepted(tag_set, {}, reviewer_id=None, note=exemption)
    for agreeing_tag_set in evaluate_agreement(tag_set, version_rules):
        decisions.mark_accepted(agreeing_tag_set, {}, reviewer_id=None, note=AGREEMENT)


def _build_flags(tag_set: LockedTagSet, version_rules: rules.VersionRules) -> list[str]:
    schema_limit = version_rules.auto_accept_confidence
    limit = LOW_CONFIDENCE if schema_limit is None else schema_limit
    has_low_confidence = any(
        tag["source"] == "model" and tag["confidence"] is not None and tag["confidence"] < limit
        for tag in tag_set.tags
    )
    flags = ["low_confidence"] if has_low_confidence else []
    return [*flags, "resubmitted"] if was_returned(tag_set) else flags


SAMPLING, CONFIDENCE, AGREEMENT = "sampling", "confidence", "agreement"
"""Reasons for an automatic acceptance, as stored in the note of the revision."""
RULES_VERSION_PREFIX = "rules-"
"""The prefix of the model version in predictions by the built-in rules."""


def is_sampled(artifact_id: UUID, labeler_id: UUID | None, rate: float) -> bool:
    """Return whether a labeler's tag set for an artifact is in the sample that is reviewed.

    `rate` is the fraction (0 to 1) of tag sets in the sample. The result is computed from a keyed
    hash of both ids, so users can neither predict nor change the result, and a draft that is
    deleted and created again gets the same result. The sample for a higher rate includes the sample
    for every lower rate.
    """
    payload = artifact_id.bytes + (labeler_id.bytes if labeler_id else b"")
    digest = container.keyring().sign("review_sampling", payload)
    return int.from_bytes(digest[:8], "big") < rate * 2**64


def is_confident(tags: list[dict[str, Any]], min_confidence: float | None) -> bool:
    """Return whether a model made all tags, each with at least the confidence `min_confidence`.

    The result is false if there are no tags, if `min_confidence` is None, or if a person made a
    tag, regardless of the confidence that the person set.
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
    """Return whether a reviewer rejected or reopened this tag set, or rejected an earlier tag set.

    Earlier tag sets are those by the same labeler for the same artifact. A returned tag set needs
    another review. It might not be independent: the labeler may have seen other tag sets.
    """
    return bool(tag_set.rejections or tag_set.reopened or tag_set.was_rejected_before)


def find_exemption(
    tag_set: LockedTagSet, version_rules: rules.VersionRules, caller: Caller
) -> str | None:
    """Return why a submitted tag set needs no review (`SAMPLING` or `CONFIDENCE`), or None.

    Agreement with other tag sets is not considered. A tag set that inherits the rejections of
    earlier tag sets is always reviewed, because it may be a copy of a rejected tag set. Confidence
    is a reason only if the labeler has removed no predicted tags and added no tags from a later
    prediction. It is not a reason if the prediction was made by the built-in rules, whose
    confidence is not calibrated, or for another schema version, which may have other fields.
    """
    if was_returned(tag_set) or tag_set.earlier_rejections:
        return None
    if not is_sampled(tag_set.artifact_id, tag_set.labeler_id, version_rules.sample_rate):
        return SAMPLING
    if (tag_set.prediction_model_version or "").startswith(RULES_VERSION_PREFIX):
        return None
    if not is_confident(tag_set.tags, version_rules.auto_accept_confidence):
        return None
    if _has_edited_predictions(tag_set, caller):
        return None
    return None if _is_predicted_for_other_version(tag_set) else CONFIDENCE


def _is_predicted_for_other_version(tag_set: LockedTagSet) -> bool:
    if tag_set.prediction_id is None:
        return False
    version_id = ports.predictions.get().find_schema_version_id(tag_set.prediction_id)
    return version_id != tag_set.schema_version_id


def _has_edited_predictions(tag_set: LockedTagSet, caller: Caller) -> bool:
    """Return whether a person removed predicted tags, or added tags from a later prediction.

    The result is false for callers with an API key. They are trusted to set the source of tags.
    """
    if caller.api_key_id is not None:
        return False
    initial_tags = revisions.get_tags(tag_set.id, (1,)).get(1, [])
    before, after = (
        [tag for tag in tags if tag["source"] == "model"] for tags in (initial_tags, tag_set.tags)
    )
    return bool(
        provenance.find_missing_tags(before, tag_set.tags)
        or provenance.find_missing_tags(after, before)
    )


def evaluate_agreement(
    tag_set: LockedTagSet, version_rules: rules.VersionRules
) -> list[LockedTagSet]:
    """Evaluate the agreement of an artifact's tag sets, and return the tag sets to accept.

    The artifact of `tag_set` must be locked. Does nothing if the schema has no limit for the
    agreement or requires only one tag set, or if too few tag sets are independent. If the mean
    agreement is below the limit, or there are too many spans or boxes to compute it, the submitted
    tag sets get the flag `disagreement`; otherwise the flag is removed.

    The tag sets to accept are the submitted tag sets, except claimed and escalated tag sets. The
    result is empty if they get the flag `disagreement`, if there are more independent tag sets than
    required, or if `was_returned` is true for an independent tag set.
    """
    limit = version_rules.auto_accept_agreement
    if limit is None or tag_set.required_labels == 1:
        return []
    independent_tag_sets = [
        row
        for row in locking.lock_by_artifact(tag_set.artifact_id)
        if row.status in COMPLETED and row.source not in DEPENDENT_SOURCES
    ]
    if len(independent_tag_sets) < tag_set.required_labels:
        return []
    submitted_rows = [row for row in independent_tag_sets if row.status == TagSetStatus.SUBMITTED]
    alignment = align_rows([row.tags for row in independent_tag_sets], version_rules.field_specs)
    disagree = not has_agreement(alignment.tag_sets, version_rules.field_specs, limit)
    related.set_disagreement_flag([row.id for row in submitted_rows], disagree=disagree)
    # If there are more tag sets than required, a reviewer chooses among them.
    has_surplus = len(independent_tag_sets) > tag_set.required_labels
    if disagree or has_surplus or any(was_returned(row) for row in independent_tag_sets):
        return []
    return [row for row in submitted_rows if row.claimed_by is None and not row.escalated]
