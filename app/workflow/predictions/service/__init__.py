"""Public functions of predictions: request, run and read predictions, and train models."""

from app.engines.learning import LearningInterrupted
from app.workflow.predictions.queries.records import (
    PredictionRow,
    find_latest,
    purge_outdated,
    sum_usage,
)
from app.workflow.predictions.service.predicting import BUILTIN, RULES_VERSION, fail, predict
from app.workflow.predictions.service.requesting import (
    BUILTIN_JOB,
    SERVER_JOB,
    Request,
    choose_job,
    enqueue_prediction,
    request,
    request_many,
)
from app.workflow.predictions.service.store import activate, list_versions
from app.workflow.predictions.service.training import (
    TRAIN_JOB,
    DocumentsChanged,
    enqueue,
    enqueue_latest,
    evaluate,
    record_interruption,
    retrain_without,
    schedule_due,
    train,
)

__all__ = [
    "BUILTIN",
    "BUILTIN_JOB",
    "RULES_VERSION",
    "SERVER_JOB",
    "TRAIN_JOB",
    "DocumentsChanged",
    "LearningInterrupted",
    "PredictionRow",
    "Request",
    "activate",
    "choose_job",
    "enqueue",
    "enqueue_latest",
    "enqueue_prediction",
    "evaluate",
    "fail",
    "find_latest",
    "list_versions",
    "predict",
    "purge_outdated",
    "record_interruption",
    "request",
    "request_many",
    "retrain_without",
    "schedule_due",
    "sum_usage",
    "train",
]
