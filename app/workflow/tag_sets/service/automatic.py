"""Automatic acceptance of tag sets by sampling, by confidence, and by agreement.

docs/decisions/0025 has the rules in full. A tag set that a reviewer sent back is never accepted
automatically.
"""

from typing import Any
from uuid import UUID

from app.engines.agreement import agrees, line_up
from app.kit import container
from app.kit.principal import Caller
from app.workflow.tag_sets.queries import deciding, related, revisions
from app.workflow.tag_sets.queries.deciding import LockedTagSet
from app.workflow.tag_sets.service import rules, sources
from app.workflow.tag_sets.transitions import COMPLETED, TagSetStatus

SAMPLING, CONFIDENCE, AGREEMENT = "sampling", "confidence", "agreement"
"""Reasons of an automatic acceptance, as the revision notes them."""

NOT_INDEPENDENT = ("merge", "model")
"""Sources whose tag sets do not count as independent opinions."""


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
    alone decided: the person removed none of the predicted tags, and no tag set of the artifact
    was rejected.
    """
    if was_sent_back(tag_set):
        return None
    if not is_sampled(tag_set.artifact_id, tag_set.labeler_id, terms.sample_rate):
        return SAMPLING
    is_unsure = not is_confident(tag_set.tags, terms.auto_accept_confidence)
    if tag_set.earlier_rejections or is_unsure or _has_removed_tags(tag_set, caller):
        return None
    return CONFIDENCE


def _has_removed_tags(tag_set: LockedTagSet, caller: Caller) -> bool:
    """Return whether a person removed predicted tags that the draft began with.

    API keys are trusted, as with the source of tags.
    """
    if caller.api_key_id is not None:
        return False
    initial = revisions.get_tags(tag_set.id, (1,)).get(1, [])
    predicted = [tag for tag in initial if tag["source"] == "model"]
    return bool(sources.find_missing_tags(predicted, tag_set.tags))


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
    lineup = line_up([row.tags for row in group], terms.shapes)
    disagree = not agrees(lineup.sets, terms.shapes, limit)
    related.mark_disagreement([row.id for row in submitted], disagree=disagree)
    # If there are more than required, a reviewer chooses among them.
    surplus = len(group) > tag_set.required_labels
    if disagree or surplus or any(was_sent_back(row) for row in group):
        return []
    return [row for row in submitted if row.claimed_by is None and not row.escalated]
