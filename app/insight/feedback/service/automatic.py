"""Record feedback automatically when a tag set that began from a prediction is accepted.

Automatic feedback depends only on the accepted tag sets: recording it again changes nothing, a tag
set that is no longer accepted has no feedback, and a rebuild from scratch gives the same outcomes.
"""

from collections.abc import Iterator, Sequence
from typing import Any
from uuid import UUID

from app.engines.calibration import MILLION, get_bin_number
from app.insight.feedback.models import FeedbackOutcome
from app.insight.feedback.queries import accepted, recording
from app.insight.feedback.queries.accepted import EligibleTagSet
from app.insight.feedback.service.outcomes import compare_tags
from app.kit import db
from app.kit.db import Checkpoint
from app.kit.ids import generate_ids
from app.workflow.tag_sets.service import rules

MAX_MODEL_LENGTH = 200
_BATCH_SIZE = 100


def record(id_pairs: Sequence[tuple[UUID, UUID]]) -> int:
    """Record, replace or delete the automatic feedback on tag sets.

    `id_pairs` contains pairs of artifact id and tag set id. A tag set gets automatic feedback only
    if it is accepted, it began from a prediction, its first revision has only predicted tags, and
    it has at most `accepted.MAX_BYTES` of tags. Automatic feedback replaces feedback that was
    reported on the same document and model. Returns the number of tag sets whose feedback has
    changed. Locks the recording of feedback.
    """
    ids = list(dict.fromkeys(tag_set_id for _, tag_set_id in id_pairs))
    recording.lock_recording()
    current_revisions = accepted.find_eligible_revisions(ids)
    recorded_revisions = accepted.find_recorded_revisions(ids)
    changed_ids = [
        tag_set_id
        for tag_set_id in ids
        if current_revisions.get(tag_set_id) != recorded_revisions.get(tag_set_id)
    ]
    if changed_ids:
        recording.delete_automatic_feedback(changed_ids)
        for chunk in accepted.load_tag_sets(changed_ids):
            _insert_chunk(chunk)
    # Needed even if nothing has changed: the feedback of a deleted tag set was deleted with it.
    recording.refresh_documents(sorted({artifact_id for artifact_id, _ in id_pairs}))
    return len(changed_ids)


def _insert_chunk(tag_sets: Sequence[EligibleTagSet]) -> None:
    artifact_models = [(tag_set.artifact_id, _get_model(tag_set)) for tag_set in tag_sets]
    recording.delete_reported_feedback(artifact_models)
    for tag_set in tag_sets:
        recording.insert_feedback(list(_build_rows(tag_set)))


def rebuild(checkpoint: Checkpoint) -> int:
    """Rebuild the automatic feedback on all tag sets of the current organization.

    Returns the number of tag sets that began from a prediction. `checkpoint` commits each batch.
    """
    rebuilt_count = 0
    for batch in accepted.iterate_predicted_tag_sets(_BATCH_SIZE):
        recording.lock_recording()
        recording.delete_automatic_feedback([tag_set_id for _, tag_set_id in batch])
        record(batch)
        rebuilt_count += len(batch)
        checkpoint()
    return rebuilt_count


def _get_model(tag_set: EligibleTagSet) -> str:
    return tag_set.model[:MAX_MODEL_LENGTH]


def _build_rows(tag_set: EligibleTagSet) -> Iterator[dict[str, Any]]:
    field_specs = rules.get_version_rules(tag_set.schema_version_id).field_specs
    compared_values = list(compare_tags(tag_set.initial_tags, tag_set.tags, field_specs))
    now = db.utc_now()
    for position, (value, feedback_id) in enumerate(
        zip(compared_values, generate_ids(len(compared_values)), strict=True)
    ):
        yield {
            "id": feedback_id,
            "artifact_id": tag_set.artifact_id,
            "schema_id": tag_set.schema_id,
            "field": value.field,
            "row": value.row,
            "model": _get_model(tag_set),
            "outcome": value.outcome.value,
            **build_confidence_columns(
                value.confidence, value.outcome, is_counted=tag_set.is_checked
            ),
            "tag_set_id": tag_set.id,
            "labeler_id": tag_set.labeler_id,
            "day": tag_set.decided_at.date(),
            "accepted_revision": tag_set.revision,
            "position": position,
            "created_at": now,
        }


def build_confidence_columns(
    confidence: float | None, outcome: FeedbackOutcome, *, is_counted: bool
) -> dict[str, int | None]:
    """Build the columns `confidence` and `bin` of a feedback row.

    Both are None without a confidence, and for a missed value. If `is_counted` is false, the
    prediction has no bin, so calibration ignores it.
    """
    if confidence is None or outcome == FeedbackOutcome.MISSED:
        return {"confidence": None, "bin": None}
    bin_number = get_bin_number(confidence) if is_counted else None
    return {"confidence": round(confidence * MILLION), "bin": bin_number}
