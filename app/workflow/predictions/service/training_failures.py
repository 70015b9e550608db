"""Describe to operators why every attempt of a training run failed."""

from app.engines.learning import LearningFailed

DOCUMENT_DELETED = "a document was deleted during training"
PROCESS_KILLED = "the training process was killed"
_RETRY_ADVICE = "then run `flask extraction train`."
_MEMORY_ADVICE = f"Check the free memory and the system log, {_RETRY_ADVICE}"


def build_failure(job_error: str) -> LearningFailed:
    """Build the failure to record from the error with which the job of the run has failed.

    `job_error` describes the exception of the last attempt ("Retry: …"), or states that the worker
    process died. It is used only to distinguish these cases, because messages of other exceptions
    may contain values of documents.
    """
    exception_name, separator, message = job_error.partition(": ")
    if not separator:
        return LearningFailed("interrupted", f"{job_error} {_MEMORY_ADVICE}")
    if message == PROCESS_KILLED:
        return LearningFailed(
            "interrupted", _describe_last_attempt(f"{PROCESS_KILLED}. {_MEMORY_ADVICE}")
        )
    if message == DOCUMENT_DELETED:
        advice = f"Wait until no documents are being deleted, {_RETRY_ADVICE}"
        return LearningFailed("conflict", _describe_last_attempt(f"{DOCUMENT_DELETED}. {advice}"))
    advice = (
        "`flask jobs list --function predictions.train` shows the details. Correct the cause,"
        f" {_RETRY_ADVICE}"
    )
    return LearningFailed(
        "internal_error",
        _describe_last_attempt(f"an internal error occurred ({exception_name}). {advice}"),
    )


def _describe_last_attempt(outcome: str) -> str:
    return f"Every attempt to train the model failed. In the last attempt, {outcome}"
