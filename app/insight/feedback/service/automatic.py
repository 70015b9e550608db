"""Feedback that is recorded when a tag set that began from a prediction is accepted.

It is a function of the accepted tag sets: recording it again changes nothing, a tag set that is not
accepted any more has none, and a rebuild from nothing gives the same rows.
"""

from collections.abc import Callable, Iterator, Sequence
from typing import Any
from uuid import UUID

from app.engines.agreement import build_shapes
from app.engines.calibration import MILLION, get_bin_number
from app.insight.feedback.models import FeedbackOutcome
from app.insight.feedback.queries import recording
from app.insight.feedback.queries.recording import AcceptedTagSet
from app.insight.feedback.service.outcomes import compare_tags
from app.kit import db
from app.kit.ids import generate
from app.schemas.artifact_schemas import service as schemas

MAX_MODEL_LENGTH = 200
_BATCH = 100


def record(tag_sets: Sequence[tuple[UUID, UUID]]) -> int:
    """Update the automatic feedback of tag sets, given as (artifact id, tag set id).

    Tag sets that are not accepted, or did not begin from a prediction alone, have none. Feedback
    that was reported on the same documents and models is replaced. Returns the number of tag sets
    whose feedback has changed.
    """
    ids = [tag_set_id for _, tag_set_id in tag_sets]
    recording.lock_recording()
    accepted = {row.id: row for row in recording.list_accepted(ids) if _is_direct(row)}
    recorded = recording.list_recorded_revisions(ids)
    changed = [
        tag_set_id
        for tag_set_id in dict.fromkeys(ids)
        if _get_revision(accepted.get(tag_set_id)) != recorded.get(tag_set_id)
    ]
    if not changed:
        return 0
    recording.delete_automatic(changed)
    present = [accepted[tag_set_id] for tag_set_id in changed if tag_set_id in accepted]
    recording.delete_reported([(row.artifact_id, _get_model(row)) for row in present])
    for row in present:
        recording.insert_feedback(list(_build_rows(row)))
    changed_ids = set(changed)
    recording.refresh_documents(
        [artifact_id for artifact_id, tag_set_id in tag_sets if tag_set_id in changed_ids]
    )
    return len(changed)


def rebuild(checkpoint: Callable[[], None]) -> int:
    """Record the feedback of all tag sets of the bound organization again.

    Returns the number of tag sets that began from a prediction. `checkpoint` commits.
    """
    rebuilt = 0
    for batch in recording.iterate_candidates(_BATCH):
        recording.lock_recording()
        recording.delete_automatic([tag_set_id for _, tag_set_id in batch])
        record(batch)
        rebuilt += len(batch)
        checkpoint()
    return rebuilt


def _is_direct(row: AcceptedTagSet) -> bool:
    """Return whether the tag set started from the unchanged prediction.

    A copy of another labeler's tag set began with their work, so it says nothing about the model.
    """
    return all(tag["source"] == "model" for tag in row.initial)


def _get_revision(row: AcceptedTagSet | None) -> int | None:
    return None if row is None else row.revision


def _get_model(row: AcceptedTagSet) -> str:
    return row.model[:MAX_MODEL_LENGTH]


def _build_rows(row: AcceptedTagSet) -> Iterator[dict[str, Any]]:
    shapes = build_shapes(schemas.get_version(row.schema_version_id).fields)
    compared = list(compare_tags(row.initial, row.tags, shapes))
    now = db.utc_now()
    for position, (value, feedback_id) in enumerate(
        zip(compared, generate(len(compared)), strict=True)
    ):
        yield {
            "id": feedback_id,
            "artifact_id": row.artifact_id,
            "schema_id": row.schema_id,
            "field": value.field,
            "row": value.row,
            "model": _get_model(row),
            "outcome": value.outcome.value,
            "predicted": None,
            "correct": None,
            **build_confidence(value.confidence, value.outcome, counts=row.touched),
            "tag_set_id": row.id,
            "labeler_id": row.labeler_id,
            "day": row.decided_at.date(),
            "accepted_revision": row.revision,
            "position": position,
            "value_key": None,
            "recorded_by": None,
            "created_at": now,
        }


def build_confidence(
    confidence: float | None, outcome: FeedbackOutcome, *, counts: bool
) -> dict[str, int | None]:
    """Return the columns `confidence` and `bin`; `counts` says whether calibration counts it."""
    if confidence is None or outcome == FeedbackOutcome.MISSED:
        return {"confidence": None, "bin": None}
    bin_number = get_bin_number(confidence) if counts else None
    return {"confidence": round(confidence * MILLION), "bin": bin_number}
