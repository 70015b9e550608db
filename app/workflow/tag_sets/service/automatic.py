"""Which label sets no reviewer need look at: by lot, by confidence, by agreement.

docs/decisions/0025 has the rules in full. What a reviewer once sent back, no machine accepts.
"""

from typing import Any
from uuid import UUID

from app.engines.agreement import agrees, line_up
from app.kit import container
from app.kit.principal import Caller
from app.workflow.tag_sets.queries import beside, deciding, revisions
from app.workflow.tag_sets.service import rules, sources

SAMPLING, CONFIDENCE, AGREEMENT = "sampling", "confidence", "agreement"
"""What accepted a label set in nobody's name, as its revision notes it."""

NOT_INDEPENDENT = ("merge", "model")
"""Label sets from these sources are no opinion of their own."""


def is_sampled(artifact_id: UUID, labeler_id: UUID | None, rate: float) -> bool:
    """Return whether a labeler's work on a document is among the share `rate` (0..1) to review.

    A keyed hash of the two decides, so nobody can foresee or change the lot, and a draft that is
    discarded and begun again has the same one. A higher rate reviews all that a lower one would.
    """
    payload = artifact_id.bytes + (labeler_id.bytes if labeler_id else b"")
    lot = container.keyring().sign("review_sampling", payload)
    return int.from_bytes(lot[:8], "big") < rate * 2**64


def is_confident(tags: list[dict[str, Any]], least: float | None) -> bool:
    """Return whether there are tags, and a machine made each with at least that confidence.

    A person's own confidence spares no review. With None, no confidence is enough.
    """
    if least is None or not tags:
        return False
    return all(
        tag["source"] == "model" and tag["confidence"] is not None and tag["confidence"] >= least
        for tag in tags
    )


def sent_back(held: Any) -> bool:
    """Whether a reviewer rejected or reopened it, or an earlier one by its labeler of the document:
    they want to see it again, and its labeler may have seen the others."""
    return bool(held.rejections or held.reopened or held.retried)


def spared_by(held: Any, terms: rules.Terms, caller: Caller) -> str | None:
    """Return what spares a submitted tag set its review, whatever others say of its document.

    `SAMPLING`, `CONFIDENCE`, or None. Confidence spares it only where a machine alone decided: the
    person removed none of the prediction's tags, and no tag set of the document was rejected.
    """
    if sent_back(held):
        return None
    if not is_sampled(held.artifact_id, held.labeler_id, terms.sample_rate):
        return SAMPLING
    if held.earlier_rejections or not is_confident(held.tags, terms.auto_accept_confidence):
        return None
    return None if _removed_predicted_tags(held, caller) else CONFIDENCE


def _removed_predicted_tags(held: Any, caller: Caller) -> bool:
    """Return whether a person removed tags of the prediction that the draft began with.

    API keys are believed, as with the source of tags.
    """
    if caller.api_key_id is not None:
        return False
    copied = revisions.tags(held.id, (1,)).get(1, [])
    predicted = [tag for tag in copied if tag["source"] == "model"]
    return bool(sources.find_missing_tags(predicted, held.tags))


def agreed(held: Any, terms: rules.Terms) -> list[Any]:
    """The submitted label sets of a locked document that its labelers' agreement accepts, now that
    `held` is one of them.

    They are all that wait, once there are as many independent ones as the schema asks for, of which
    none was sent back, and their mean agreement is as high as the schema asks for. Below, those
    that wait are flagged `disagreement`, and otherwise freed of that flag. What a reviewer has in
    hands, or was asked about by escalation, is left to them.
    """
    least = terms.auto_accept_agreement
    if least is None or held.labels_wanted == 1:
        return []
    group = [
        one
        for one in deciding.lock_document(held.artifact_id)
        if one.status in ("submitted", "accepted") and one.source not in NOT_INDEPENDENT
    ]
    if len(group) < held.labels_wanted:
        return []
    waiting = [one for one in group if one.status == "submitted"]
    lined = line_up([one.tags for one in group], terms.shapes)
    disagree = not agrees(lined.sets, terms.shapes, least)
    beside.mark_disagreement([one.id for one in waiting], disagree=disagree)
    # Of more than were asked for, a reviewer chooses.
    surplus = len(group) > held.labels_wanted
    if disagree or surplus or any(sent_back(one) for one in group):
        return []
    return [one for one in waiting if one.claimed_by is None and not one.escalated]
