"""Jobs of predictions: predict, train, and delete models and old predictions."""

from collections.abc import Sequence
from uuid import UUID

from app.documents.artifacts import emitted_events as artifact_events
from app.kit import jobs
from app.kit.jobs import Job
from app.workflow.predictions import service
from app.workflow.tag_sets import emitted_events as tag_set_events

PURGE_EVERY = 86_400
RETENTION_DAYS = 90
_SERVER_ATTEMPTS = 3


def _fail(job: Job, _error: str) -> None:
    message = "Every attempt failed with an internal error."
    service.fail(UUID(job.args["prediction_id"]), code="internal_error", message=message)


@jobs.handler(
    service.BUILTIN_JOB, queue="predictions", max_attempts=3, on_failure=_fail, retryable=False
)
def predict(job: Job) -> None:
    """Predict the tags of a document with the organization's model, or by rules."""
    _run(job, service.BUILTIN_JOB)


@jobs.handler(
    service.SERVER_JOB, queue="model_servers", max_attempts=5, on_failure=_fail, retryable=False
)
def ask_model_server(job: Job) -> None:
    """Let the organization's model server predict the tags of a document."""
    _run(job, service.SERVER_JOB)


def _run(job: Job, function: str) -> None:
    prediction_id = UUID(job.args["prediction_id"])
    # The settings have changed: a slow server must not hold the queue of the others.
    if service.choose_job() != function:
        service.enqueue_prediction(prediction_id)
        return
    is_last = job.attempt >= _SERVER_ATTEMPTS
    if not service.predict(prediction_id, job.checkpoint, is_last_attempt=is_last):
        raise jobs.Retry("the model server gave no valid answer")


@jobs.handler(
    "predictions.schedule_training", queue="bulk", listens=(tag_set_events.ACCEPTED,), batch=True
)
def schedule_training(accepted: Sequence[Job]) -> None:
    """Enqueue the training of schemas with enough new accepted tag sets."""
    schema_ids = {UUID(job.args["data"]["schema_id"]) for job in accepted}
    service.schedule_due(sorted(schema_ids))


def _give_up(job: Job, _error: str) -> None:
    service.give_up(UUID(job.args["schema_version_id"]))


@jobs.handler(service.TRAIN_JOB, queue="training", max_attempts=5, on_failure=_give_up)
def train(job: Job) -> None:
    """Train a model of a schema version in a child process."""
    version_id = UUID(job.args["schema_version_id"])
    try:
        service.train(version_id, job.checkpoint, force=bool(job.args.get("force")))
    except service.DocumentsChanged:
        raise jobs.Retry("a document was deleted meanwhile") from None
    except service.LearningInterrupted:
        raise jobs.Retry("the training process was killed") from None


@jobs.handler("predictions.forget", listens=(artifact_events.DELETED,), batch=True)
def forget(deleted: Sequence[Job]) -> None:
    """Delete the models that were trained on deleted documents."""
    service.forget([UUID(job.args["data"]["artifact_id"]) for job in deleted])


@jobs.handler("predictions.purge", queue="maintenance", resumable=True)
def purge(job: Job) -> None:
    """Delete old replaced predictions from which no tag set started."""
    service.purge_outdated(RETENTION_DAYS, job.checkpoint)


jobs.periodic("predictions.purge", every=PURGE_EVERY)
