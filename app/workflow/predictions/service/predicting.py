"""Predict the tags of one document."""

from datetime import datetime, timedelta
from typing import NamedTuple
from uuid import UUID

from app.documents.artifacts.models.documents import ArtifactRow
from app.documents.artifacts.service import reading, texts, updating
from app.documents.artifacts.statuses import ArtifactStatus
from app.engines.extraction.model import MIN_EXAMPLES, Document
from app.engines.fields import CompiledFields, SourceText, Tag
from app.kit import db, events, plan_limits
from app.kit.db import Checkpoint
from app.kit.errors import ApiError
from app.kit.jobs import Retry
from app.kit.plan_limits import Meter
from app.schemas.artifact_schemas.models import SchemaVersion
from app.schemas.artifact_schemas.service import versions as schemas
from app.workflow.predictions import emitted_events
from app.workflow.predictions.emitted_events import EndedPayload
from app.workflow.predictions.models import Prediction, PredictionStatus
from app.workflow.predictions.queries import records
from app.workflow.predictions.queries.examples import VersionRow
from app.workflow.predictions.service import documents, provider, store, training
from app.workflow.predictions.service.provider import PredictionFailed, Proposal, ServerUnresponsive
from app.workflow.predictions.service.store import ModelUnreadable
from app.workflow.tag_sets.service import rules
from app.workflow.tag_sets.service.submitting import RULES_VERSION_PREFIX

BUILTIN = "builtin"
RULES_VERSION = f"{RULES_VERSION_PREFIX}1"
"""The `model_version` of predictions by built-in rules, which apply until a model is trained."""

_NOT_READY, _NOT_READY_MESSAGE = "not_ready", "The document has not been processed successfully."
_UNRESPONSIVE_MESSAGE = "The model server is unresponsive. The prediction failed after one day."
_MAX_WAIT = timedelta(days=1)
"""The maximum time that a prediction waits for its document or for an unresponsive server."""
_DOCUMENT_WAIT = timedelta(seconds=30)


class _DocumentNotReady(Exception):  # noqa: N818 - a signal, not an error
    """Raised if the document is being processed again, so that it cannot be read now."""


class _PredictionResult(NamedTuple):
    """The proposal of a model or of the built-in rules, and the number of pages that were read.

    `valid_tags` are the proposed tags that fit the document as it was at `updated_at`.
    """

    proposal: Proposal
    valid_tags: list[Tag]
    updated_at: datetime
    page_count: int


def predict(
    prediction_id: UUID, checkpoint: Checkpoint, *, is_last_attempt: bool
) -> timedelta | None:
    """Predict the tags for a queued prediction, and end it as completed or failed.

    Does nothing if the prediction has ended or its schema was deleted. `checkpoint` commits the
    transaction before the model proposes tags, because the model can take a long time. If the
    document is being processed again, or if the model server is unresponsive, returns the time
    after which the caller must try again; otherwise, returns None. Raises Retry if this attempt
    failed but another attempt may succeed, unless `is_last_attempt` is set.
    """
    prediction = records.find(prediction_id)
    if prediction is None or prediction.status != PredictionStatus.QUEUED:
        return None
    try:
        version = schemas.get_version(prediction.schema_version_id)
        fields = rules.get_version_rules(version.id).fields
    except ApiError:
        return None  # The schema was deleted, and a job is deleting its predictions.
    can_wait = prediction.created_at > db.utc_now() - _MAX_WAIT
    try:
        result = _propose_tags(prediction.artifact_id, version, fields, checkpoint)
    except PredictionFailed as failure:
        if failure.is_transient and not is_last_attempt:
            message = f"the prediction failed temporarily: {failure.code}"
            raise Retry(message, min_delay=failure.retry_after) from None
        fail(prediction_id, code=failure.code, message=failure.message)
    except _DocumentNotReady:
        if can_wait:
            return _DOCUMENT_WAIT
        fail(prediction_id, code=_NOT_READY, message=_NOT_READY_MESSAGE)
    except ServerUnresponsive as signal:
        if can_wait:
            return signal.wait
        fail(prediction_id, code=provider.TIMED_OUT, message=_UNRESPONSIVE_MESSAGE)
    else:
        _complete_prediction(prediction_id, result, fields)
    return None


def _propose_tags(
    artifact_id: UUID, version: SchemaVersion, fields: CompiledFields, checkpoint: Checkpoint
) -> _PredictionResult:
    artifact = _get_artifact(artifact_id)
    loaded_document = documents.load_document(artifact_id)
    if loaded_document is None:
        # The document was reprocessed or deleted after the prediction was requested.
        status = _get_artifact(artifact_id).status
        if status == ArtifactStatus.PROCESSING:
            raise _DocumentNotReady
        is_failed = status == ArtifactStatus.FAILED
        raise PredictionFailed(_NOT_READY, _NOT_READY_MESSAGE, is_transient=not is_failed)
    source = SourceText(lambda: loaded_document.document.text)
    settings = records.get_provider()
    if settings.kind == BUILTIN:
        proposal = _propose_with_builtin(artifact_id, loaded_document.document, version, checkpoint)
    else:
        checkpoint()  # No transaction may be open while the server works.
        proposal = provider.predict_with_server(settings, loaded_document.document, version.fields)
    valid_tags = _keep_valid_tags(proposal.tags, fields, artifact, source)
    return _PredictionResult(proposal, valid_tags, artifact.updated_at, loaded_document.page_count)


def _get_artifact(artifact_id: UUID) -> ArtifactRow:
    try:
        return reading.get(artifact_id)
    except ApiError:
        raise PredictionFailed("deleted", "The artifact was deleted.") from None


def _propose_with_builtin(
    artifact_id: UUID, document: Document, version: SchemaVersion, checkpoint: Checkpoint
) -> Proposal:
    try:
        model = store.find_active_model(version.id)
    except ModelUnreadable as error:
        training.replace_unreadable_model(version.id, error.model_id)
        model = None
    if model is not None:
        checkpoint()
        return Proposal(list(model.predict(document)), BUILTIN, model.version)
    row = VersionRow(version.id, version.schema_id, version.fields)
    accepted_tag_sets = [
        tag_set
        for tag_set in documents.list_accepted(row, MIN_EXAMPLES)
        if tag_set.artifact_id != artifact_id
    ]
    if len(accepted_tag_sets) == MIN_EXAMPLES and training.is_training_due(version.id):
        # If the tag sets were accepted before the schema version was published or AI assistance was
        # turned on, their acceptance enqueued no training run.
        training.enqueue_training(version.id)
    examples = list(documents.build_examples(accepted_tag_sets))[: MIN_EXAMPLES - 1]
    checkpoint()
    from app.engines.extraction.rule_based import propose_by_rules  # noqa: PLC0415 - loads numpy

    tags = propose_by_rules(document, version.fields, examples)
    return Proposal(list(tags), BUILTIN, RULES_VERSION)


def _complete_prediction(
    prediction_id: UUID, result: _PredictionResult, fields: CompiledFields
) -> None:
    prediction = _lock_queued_prediction(prediction_id)
    if prediction is None:
        return
    artifact = reading.get(prediction.artifact_id)
    if artifact.schema_id != prediction.schema_id:
        message = "The artifact's schema was changed during the prediction."
        _end_as_failed(prediction, "schema_changed", message)
        return
    try:
        plan_limits.reserve(Meter.AI_PAGES, result.page_count)
    except ApiError as refusal:
        _end_as_failed(prediction, refusal.code, refusal.message)
        return
    proposal = result.proposal
    prediction.tags = result.valid_tags
    if artifact.updated_at != result.updated_at:
        # The document, including its text, may have changed during the prediction.
        source = texts.build_source_text(artifact.id, artifact.updated_at)
        prediction.tags = _keep_valid_tags(proposal.tags, fields, artifact, source)
    prediction.model, prediction.model_version = proposal.model, proposal.model_version
    prediction.pages = result.page_count
    prediction.prompt_tokens = proposal.prompt_tokens
    prediction.completion_tokens = proposal.completion_tokens
    _end_prediction(prediction, PredictionStatus.COMPLETED)


def _keep_valid_tags(
    tags: list[Tag], fields: CompiledFields, artifact: ArtifactRow, source: SourceText
) -> list[Tag]:
    """Return the tags that fit the schema version and the document; omit all other tags."""
    return fields.keep_valid_tags(
        tags,
        text_length=artifact.text_length,
        page_count=artifact.page_count or 0,
        source=source,
    )


def fail(prediction_id: UUID, *, code: str, message: str) -> None:
    """Mark a prediction as failed with `code` and `message`, unless it has already ended."""
    prediction = _lock_queued_prediction(prediction_id)
    if prediction is not None:
        _end_as_failed(prediction, code, message)


def _end_as_failed(prediction: Prediction, code: str, message: str) -> None:
    prediction.error = {"code": code, "message": message}
    _end_prediction(prediction, PredictionStatus.FAILED)


def _lock_queued_prediction(prediction_id: UUID) -> Prediction | None:
    """Lock an artifact and its queued prediction, and return the prediction.

    Returns None if the prediction has ended or was deleted. The artifact is locked before the
    prediction, as in all other code.
    """
    prediction = records.find(prediction_id)
    if prediction is None:
        return None
    try:
        reading.lock(prediction.artifact_id)
    except ApiError:
        return None
    locked_prediction = records.find(prediction_id, lock=True)
    return (
        locked_prediction
        if locked_prediction is not None and locked_prediction.status == PredictionStatus.QUEUED
        else None
    )


def _end_prediction(prediction: Prediction, status: PredictionStatus) -> None:
    prediction.status, prediction.completed_at = status.value, db.utc_now()
    db.session().flush()
    summary = {
        "id": str(prediction.id),
        "status": prediction.status,
        "model_version": prediction.model_version,
        "error": prediction.error,
    }
    updating.set_predictions({prediction.artifact_id: summary})
    payload: EndedPayload = {
        "prediction_id": prediction.id,
        "artifact_id": prediction.artifact_id,
        "schema_id": prediction.schema_id,
        "schema_version_id": prediction.schema_version_id,
        "status": prediction.status,
        "model": prediction.model,
        "model_version": prediction.model_version,
        "ingestion_job_id": prediction.ingestion_job_id,
    }
    events.emit(emitted_events.ENDED, payload)
