"""Public functions of predictions: request, run and read predictions, and train models."""

from app.engines.learning import LearningInterrupted
from app.workflow.predictions.queries.purging import delete_of_schema, purge_outdated
from app.workflow.predictions.queries.records import (
    find_latest,
    find_schema_version_id,
)
from app.workflow.predictions.service.predicting import fail, predict
from app.workflow.predictions.service.requesting import (
    BUILTIN_JOB,
    SERVER_JOB,
    QueueOutcome,
    choose_job,
    enqueue_prediction,
    request,
    request_many,
)
from app.workflow.predictions.service.store import activate, list_models
from app.workflow.predictions.service.training import (
    TRAIN_JOB,
    DocumentsChanged,
    enqueue_due_training,
    enqueue_following_training,
    enqueue_latest_training,
    evaluate,
    record_interruption,
    retrain_without_documents,
    train,
)

__all__ = [
    "BUILTIN_JOB",
    "SERVER_JOB",
    "TRAIN_JOB",
    "DocumentsChanged",
    "LearningInterrupted",
    "QueueOutcome",
    "activate",
    "choose_job",
    "delete_of_schema",
    "enqueue_due_training",
    "enqueue_following_training",
    "enqueue_latest_training",
    "enqueue_prediction",
    "evaluate",
    "fail",
    "find_latest",
    "find_schema_version_id",
    "list_models",
    "predict",
    "purge_outdated",
    "record_interruption",
    "request",
    "request_many",
    "retrain_without_documents",
    "train",
]
