"""Background jobs that predict tags, train models, and delete models and old predictions."""

from collections.abc import Sequence
from uuid import UUID

from app.documents.artifacts import emitted_events as artifact_events
from app.engines import learning
from app.kit import db, jobs
from app.kit.jobs import Job
from app.workflow.predictions.queries import purging
from app.workflow.predictions.service import predicting, requesting, training, training_failures
from app.workflow.tag_sets import emitted_events as tag_set_events

PURGE_INTERVAL_SECONDS = 86_400
RETENTION_DAYS = 90
"""The age in days from which predictions are purged unless they are still needed."""
_FOLLOW_JOB = "predictions.follow_training"
_FINAL_ATTEMPT = 3
"""From this attempt on, a transient failure ends the prediction."""


def _fail_prediction(job: Job, _error: str) -> None:
    message = "Every attempt failed with an internal error."
    predicting.fail(UUID(job.args["prediction_id"]), code="internal_error", message=message)


@jobs.handler(
    requesting.BUILTIN_JOB,
    queue="predictions",
    max_attempts=3,
    on_failure=_fail_prediction,
    retryable=False,
)
def predict(job: Job) -> None:
    """Predict the tags of a document with the organization's trained model or by built-in rules."""
    _run_prediction(job, requesting.BUILTIN_JOB)


@jobs.handler(
    requesting.SERVER_JOB,
    queue="model_servers",
    max_attempts=5,
    on_failure=_fail_prediction,
    retryable=False,
)
def predict_with_model_server(job: Job) -> None:
    """Predict the tags of a document with the organization's own model server."""
    _run_prediction(job, requesting.SERVER_JOB)


def _run_prediction(job: Job, job_name: str) -> None:
    prediction_id = UUID(job.args["prediction_id"])
    # If the settings have changed, the prediction is moved to the other queue, so that a slow
    # server never delays the predictions of other organizations.
    if requesting.choose_job() != job_name:
        requesting.enqueue_prediction(prediction_id)
        return
    is_last_attempt = job.attempt >= _FINAL_ATTEMPT
    wait = predicting.predict(prediction_id, job.checkpoint, is_last_attempt=is_last_attempt)
    if wait is not None:
        # A new job is enqueued, because waiting for text recognition or for an unresponsive model
        # server must not count as an attempt.
        requesting.enqueue_prediction(prediction_id, due_at=db.utc_now() + wait)


@jobs.handler(
    "predictions.schedule_training", queue="bulk", events=(tag_set_events.ACCEPTED,), batch=True
)
def schedule_training(batch: Sequence[Job]) -> None:
    """Schedule the next training run of each schema with new accepted tag sets, if it is due."""
    schema_ids = {UUID(job.args["data"]["schema_id"]) for job in batch}
    training.enqueue_due_training(sorted(schema_ids))


def _record_training_failure(job: Job, error: str) -> None:
    failure = training_failures.build_failure(error)
    training.record_failure(UUID(job.args["schema_version_id"]), failure)


@jobs.handler(
    training.TRAIN_JOB, queue="training", max_attempts=5, on_failure=_record_training_failure
)
def train(job: Job) -> None:
    """Train a model for a schema version, and enqueue the job that schedules the next run."""
    version_id = UUID(job.args["schema_version_id"])
    try:
        model_id = training.train(version_id, job.checkpoint, force=bool(job.args.get("force")))
    except training.TrainingDocumentDeleted:
        raise jobs.Retry(training_failures.DOCUMENT_DELETED) from None
    except learning.LearningInterrupted:
        raise jobs.Retry(training_failures.PROCESS_KILLED) from None
    if model_id is not None:
        # Until this run commits, its unique key prevents other runs from being enqueued. Another
        # job then checks whether the tag sets that were accepted during this run require a new run.
        args = {"schema_version_id": str(version_id)}
        jobs.enqueue(_FOLLOW_JOB, args, organization_id=job.organization_id)


@jobs.handler(_FOLLOW_JOB, queue="bulk")
def schedule_following_training(job: Job) -> None:
    """Schedule the next training run if the tag sets accepted during the last run make it due."""
    training.enqueue_following_training(UUID(job.args["schema_version_id"]))


@jobs.handler("predictions.forget", events=(artifact_events.DELETED,), batch=True)
def retrain_without_deleted_documents(batch: Sequence[Job]) -> None:
    """Delete the models that were trained on deleted documents, and schedule new training runs."""
    training.retrain_without_documents([UUID(job.args["data"]["artifact_id"]) for job in batch])


@jobs.handler(
    "predictions.purge", queue="maintenance", resumable=True, every=PURGE_INTERVAL_SECONDS
)
def purge(job: Job) -> None:
    """Purge old predictions that a newer prediction has replaced and that no tag set uses."""
    purging.purge_outdated(RETENTION_DAYS, job.checkpoint_at, job.position)
