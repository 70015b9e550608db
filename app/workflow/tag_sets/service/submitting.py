"""A draft is handed to review."""

from typing import Any
from uuid import UUID

from app.documents.artifacts.models import urgent_at
from app.kit import db
from app.kit.principal import Caller
from app.workflow.tag_sets.queries import deciding, reading
from app.workflow.tag_sets.service import automatic, decisions, rules, statuses
from app.workflow.tag_sets.service.drafts import tell

LOW_CONFIDENCE = 0.5
"""Below it a model's tag makes a label set `low_confidence`, where the schema names no other."""


def submit(tag_set_id: UUID, *, caller: Caller, revision: int | None) -> Any:
    """Hand a draft to review, or accept it at once where the schema's policy needs no reviewer:
    by sampling, by confidence, or with the others of its document by agreement.

    Raises 404, 403, 409 (`conflict`, `stale_precondition`), 400 `required_fields_missing` or, when
    the document has changed under its tags, `validation_error`.
    """
    held = decisions.lock(tag_set_id)
    rules.check_labeler(caller, held)
    rules.check_state(held, "draft", revision)
    terms = rules.terms(held.schema_version_id)
    decisions.check(terms, held, held.tags)
    now = db.utc_now()
    values = {
        "status": "submitted",
        "submitted_at": now,
        "decided_at": None,
        "reviewer_id": None,
        "reason": None,
        "review_rank": decisions.review_rank(held.priority, urgent_at(held.due_at, now)),
        "flags": _flags(held, terms),
    }
    deciding.change(tag_set_id, values, kind="submit", author_id=caller.user_id)
    deciding.release_claim(held.artifact_id, held.labeler_id)
    tell("submitted", tag_set_id, held._asdict())
    _accept_automatically(held, terms, caller)
    statuses.update_status(held.artifact_id)
    return reading.get(tag_set_id)


def _accept_automatically(held: Any, terms: rules.Terms, caller: Caller) -> None:
    # Once there are enough, a reviewer decides what becomes of one more.
    if decisions.enough(held):
        return
    spared_by = automatic.spared_by(held, terms, caller)
    if spared_by is not None:
        decisions.accept_unseen(held, spared_by)
    for one in automatic.agreed(held, terms):
        decisions.accept_unseen(one, automatic.AGREEMENT)


def _flags(held: Any, terms: rules.Terms) -> list[str]:
    least = terms.auto_accept_confidence
    limit = LOW_CONFIDENCE if least is None else least
    doubtful = any(
        tag["source"] == "model" and tag["confidence"] is not None and tag["confidence"] < limit
        for tag in held.tags
    )
    found = ["low_confidence"] if doubtful else []
    return [*found, "resubmitted"] if automatic.sent_back(held) else found
