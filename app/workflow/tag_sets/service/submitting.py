"""Submission of drafts for review."""

from uuid import UUID

from app.kit import db, events
from app.kit.principal import Caller
from app.workflow.tag_sets import emitted_events
from app.workflow.tag_sets.queries import deciding, reading, recording
from app.workflow.tag_sets.queries.deciding import LockedTagSet
from app.workflow.tag_sets.queries.reading import TagSetRow
from app.workflow.tag_sets.service import automatic, decisions, rules, statuses
from app.workflow.tag_sets.transitions import Action, TagSetStatus

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
        "flags": _flags(tag_set, terms),
    }
    recording.change([tag_set_id], values, kind="submit", author_id=caller.user_id)
    deciding.release_claim(tag_set.artifact_id, tag_set.labeler_id)
    events.emit(emitted_events.SUBMITTED, emitted_events.build_payload(tag_set))
    _accept_automatically(tag_set, terms, caller)
    statuses.update_status(tag_set.artifact_id)
    return reading.get_existing(tag_set_id)


def _accept_automatically(tag_set: LockedTagSet, terms: rules.Terms, caller: Caller) -> None:
    # If the quorum is reached already, a reviewer decides on a further tag set.
    if decisions.find_quorum(tag_set):
        return
    exemption = automatic.find_exemption(tag_set, terms, caller)
    if exemption is not None:
        decisions.accept_automatically(tag_set, exemption)
    for agreeing in automatic.apply_agreement(tag_set, terms):
        decisions.accept_automatically(agreeing, automatic.AGREEMENT)


def _flags(tag_set: LockedTagSet, terms: rules.Terms) -> list[str]:
    configured = terms.auto_accept_confidence
    limit = LOW_CONFIDENCE if configured is None else configured
    doubtful = any(
        tag["source"] == "model" and tag["confidence"] is not None and tag["confidence"] < limit
        for tag in tag_set.tags
    )
    flags = ["low_confidence"] if doubtful else []
    return [*flags, "resubmitted"] if automatic.was_sent_back(tag_set) else flags
