"""Train models on accepted tag sets, and determine when the next training run is due."""

from collections.abc import Iterator, Sequence
from math import ceil
from typing import Any
from uuid import UUID

from app.engines.extraction.model import MIN_EXAMPLES, Example
from app.engines.learning import LearningFailed, TrainingResult, evaluate_in_child, train_in_child
from app.kit import db, events, jobs, tenancy
from app.kit.db import Checkpoint, ReportProgress
from app.kit.errors import ApiError
from app.kit.logging import get_logger
from app.schemas.artifact_schemas.service import versions as schemas
from app.workflow.predictions import emitted_events
from app.workflow.predictions.emitted_events import TrainedPayload
from app.workflow.predictions.models import ModelState
from app.workflow.predictions.queries import examples, models, records
from app.workflow.predictions.queries.examples import AcceptedTagSet, VersionRow
from app.workflow.predictions.service import documents, store
from app.workflow.predictions.service.store import ModelUnreadable

TRAIN_JOB = "predictions.train"
_FIRST_DOCUMENT_COUNTS = (5, 10, 20, 50, 100)
_MIN_ADDED_DOCUMENTS = 25

log = get_logger(__name__)


class TrainingDocumentDeleted(Exception):  # noqa: N818 - named after the outcome
    """Raised if a training document was deleted during training, so the model was not stored."""


def compute_next_document_count(last_count: int) -> int:
    """Compute the number of documents that the next training run requires.

    The first training runs require 5, 10, 20, 50 and 100 documents. Each later run requires 25
    more documents than the last run, or 10% more if that is a larger number.
    """
    for count in _FIRST_DOCUMENT_COUNTS:
        if last_count < count:
            return count
    return last_count + max(_MIN_ADDED_DOCUMENTS, ceil(last_count / 10))


def enqueue_due_training(schema_ids: Sequence[UUID]) -> None:
    """Enqueue a training run for the latest version of each AI-assisted schema, if it is due.

    A run is also enqueued if the active model can no longer be read; this model is retired.
    """
    for schema_id in schema_ids:
        version_id = _find_current_version_id(schema_id)
        if (
            version_id is not None
            and not _replace_if_unreadable(version_id)
            and is_training_due(version_id)
        ):
            enqueue_training(version_id)


def _replace_if_unreadable(version_id: UUID) -> bool:
    try:
        store.check_active_model(version_id)
    except ModelUnreadable as error:
        return replace_unreadable_model(version_id, error.model_id)
    return False


def replace_unreadable_model(version_id: UUID, model_id: UUID) -> bool:
    """Replace an active model that cannot be read: retire it, and enqueue a training run.

    Tags are predicted by built-in rules until the run has ended. Returns False if the model is no
    longer active. In this case, a training run has already been enqueued.
    """
    is_retired = store.retire_unreadable_model(model_id)
    if is_retired:
        enqueue_training(version_id, force=True)
    return is_retired


def _find_current_version_id(schema_id: UUID) -> UUID | None:
    if not records.is_ai_assisted(schema_id):
        return None
    return examples.find_version_id(schema_id, None)


def is_training_due(version_id: UUID) -> bool:
    """Return whether a schema version has enough documents for its next training run."""
    next_count = compute_next_document_count(models.get_latest_document_count(version_id))
    version = _get_version(version_id)
    version_ids = documents.list_compatible_version_ids(version)
    # Usually there are too few tag sets, and only this cheaper count is needed.
    if examples.count_accepted(version.schema_id, version_ids, next_count) < next_count:
        return False
    return (
        examples.count_training_documents(version.schema_id, version_ids, next_count) >= next_count
    )


def enqueue_training(version_id: UUID, *, force: bool = False) -> None:
    """Enqueue a training run for a schema version, unless such a run is queued or running.

    A forced run trains even if no training is due.
    """
    jobs.enqueue(
        TRAIN_JOB,
        {"schema_version_id": str(version_id), "force": force},
        organization_id=tenancy.current_organization_id(),
        # A forced run has a separate key, because a queued run that is not forced may not be due.
        unique_key=f"{TRAIN_JOB}:{version_id}{':forced' if force else ''}",
    )


def enqueue_following_training(version_id: UUID) -> None:
    """Enqueue the next training run of a schema version after a run has ended, if it is due.

    A run is due only if there are more documents than the last run counted, so this function does
    not enqueue runs endlessly.
    """
    if _find_version(version_id) is not None and is_training_due(version_id):
        enqueue_training(version_id)


def _get_version(version_id: UUID) -> VersionRow:
    version = schemas.get_version(version_id)
    return VersionRow(version.id, version.schema_id, version.fields)


def _find_version(version_id: UUID) -> VersionRow | None:
    try:
        return _get_version(version_id)
    except ApiError:
        return None


def train(version_id: UUID, checkpoint: Checkpoint, *, force: bool = False) -> UUID | None:
    """Train a model in a child process and store it.

    The new model is activated unless it is significantly worse than the active model. Emits
    `extraction_model.trained`. A forced run also trains if no training run is due.

    Returns the id of the stored model. If training fails, a model without content is stored, and no
    event is emitted. Returns None if no training run is due, there are too few documents, the
    training data has not changed since an earlier run, AI assistance is off, or the schema was
    deleted. Raises TrainingDocumentDeleted, or LearningInterrupted if the child process was killed.
    """
    version = _find_version(version_id)
    if version is None or not records.is_ai_assisted(version.schema_id):
        return None
    # Replacing a model enqueues a forced run, so a run that is not forced ends here.
    is_replaced = _replace_if_unreadable(version_id)
    if not force and (is_replaced or not is_training_due(version_id)):
        return None
    accepted_tag_sets = documents.list_accepted(version)
    if len(accepted_tag_sets) < MIN_EXAMPLES:
        return None
    active_model_id = models.find_active_id(version_id)
    active_content = (
        None if active_model_id is None else store.find_verified_content(active_model_id)
    )
    document_count = _count_training_documents(version)
    checkpoint()
    try:
        training_result = train_in_child(
            documents.build_examples(accepted_tag_sets, checkpoint),
            version.fields,
            schema_version=str(version_id),
            previous_model=active_content,
        )
    except LearningFailed as failure:
        db.session().rollback()
        log.warning("extraction_model.failed", schema_version=str(version_id), code=failure.code)
        return _save_failure(version, document_count, failure)
    return _save_model(version, accepted_tag_sets, document_count, training_result)


def _count_training_documents(version: VersionRow) -> int:
    version_ids = documents.list_compatible_version_ids(version)
    return examples.count_training_documents(version.schema_id, version_ids)


def record_failure(version_id: UUID, failure: LearningFailed) -> None:
    """Record a training run of which every attempt failed, with the reason.

    The next run is due only when there are more documents.
    """
    version = _find_version(version_id)
    if version is not None:
        _save_failure(version, _count_training_documents(version), failure)


def _save_failure(schema_version: VersionRow, document_count: int, failure: LearningFailed) -> UUID:
    values = {
        "schema_id": schema_version.schema_id,
        "schema_version_id": schema_version.id,
        "version": "",
        "state": ModelState.FAILED,
        "document_count": document_count,
        "error": {"code": failure.code, "message": failure.message},
    }
    return store.save(values, activate=False)


def _save_model(
    schema_version: VersionRow,
    accepted_tag_sets: list[AcceptedTagSet],
    document_count: int,
    training_result: TrainingResult,
) -> UUID | None:
    version_id = schema_version.id
    artifact_ids = [tag_set.artifact_id for tag_set in accepted_tag_sets]
    if examples.lock_documents(artifact_ids) < len(artifact_ids):
        raise TrainingDocumentDeleted
    if models.find_model_id(version_id, training_result.version) is not None:
        return None
    values = {
        "schema_id": schema_version.schema_id,
        "schema_version_id": version_id,
        "version": training_result.version,
        "document_count": document_count,
        "f1": training_result.report.get("overall", {}).get("f1"),
        "report": training_result.report,
        "artifact_ids": artifact_ids,
        "content": training_result.content,
        "mac": store.build_mac(version_id, training_result.version, training_result.content),
    }
    model_id = store.save(values, activate=training_result.is_no_worse)
    payload: TrainedPayload = {
        "model_id": model_id,
        "schema_id": schema_version.schema_id,
        "schema_version_id": version_id,
        "version": training_result.version,
        "state": (ModelState.ACTIVE if training_result.is_no_worse else ModelState.CANDIDATE).value,
    }
    events.emit(emitted_events.TRAINED, payload)
    return model_id


def retrain_without_documents(artifact_ids: Sequence[UUID]) -> None:
    """Delete the models that were trained on deleted documents, and enqueue training runs."""
    for version_id in sorted(store.delete_models_trained_on(artifact_ids)):
        enqueue_training(version_id, force=True)


def enqueue_latest_training(schema_id: UUID) -> bool:
    """Enqueue a forced training run for a schema's latest version; return False if it has none."""
    version_id = examples.find_version_id(schema_id, None)
    if version_id is not None:
        enqueue_training(version_id, force=True)
    return version_id is not None


def evaluate(
    schema_id: UUID, *, number: int | None, folds: int, progress: ReportProgress
) -> dict[str, Any] | None:
    """Evaluate a model by cross-validation on a schema's accepted tag sets; return the report.

    `number` is the number of a schema version; None means the latest version. `folds` is the
    number of parts into which the tag sets are split. `progress` is called with the number of
    documents that were read and the total number. Returns None if the schema has no such version.
    Raises LearningFailed if the evaluation fails.
    """
    version_id = examples.find_version_id(schema_id, number)
    if version_id is None:
        return None
    version = _get_version(version_id)
    accepted_tag_sets = documents.list_accepted(version)

    def read_examples() -> Iterator[Example]:
        for read_count, example in enumerate(documents.build_examples(accepted_tag_sets), start=1):
            progress(read_count, len(accepted_tag_sets))
            yield example

    return evaluate_in_child(read_examples(), version.fields, folds=folds)
