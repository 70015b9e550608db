"""Jobs that compute quality runs and keep the list of disagreements current."""

from time import monotonic
from typing import TYPE_CHECKING, Any
from uuid import UUID

from app.insight.quality_runs import emitted_events
from app.insight.quality_runs.models import QualityRun
from app.insight.quality_runs.queries import answers, records
from app.insight.quality_runs.service import disagreement_updates, runs
from app.insight.quality_runs.service.plans import plan_fields
from app.kit import jobs, purging
from app.kit.jobs import Job
from app.workflow.tag_sets import emitted_events as tag_set_events

if TYPE_CHECKING:
    from app.insight.quality_runs.service.computing import RunResults

REPORT_SECONDS = 1.0
EXPIRED_CONDITION = "created_at < now() - interval '400 days'"
_DAY_SECONDS = 86_400
_MIN_ID = str(UUID(int=0))


class _RunEnded(Exception):  # noqa: N818 - a signal, not an error
    """Raised when the run ended while it was being computed."""


def _get_run_id(job: Job) -> UUID:
    return UUID(job.args["data"]["run_id"])


def _fail_run(job: Job, _error: str) -> None:
    runs.fail(_get_run_id(job))


def _reopen_run(args: dict[str, Any]) -> None:
    runs.reopen(UUID(args["data"]["run_id"]))


@jobs.handler(
    "quality_runs.run",
    queue="quality",
    events=(emitted_events.REQUESTED,),
    on_failure=_fail_run,
    on_retry=_reopen_run,
)
def run_computation(job: Job) -> None:
    """Compute a requested run, store its results, and enqueue the update of the disagreements.

    A repeated attempt starts from the beginning. Does nothing if the run does not exist or has
    already ended.
    """
    run = runs.start(_get_run_id(job))
    if run is None:
        return
    job.checkpoint()
    try:
        run_results = _compute(job, run)
    except _RunEnded:
        return
    runs.complete(job, run.id, run_results)
    jobs.enqueue(
        "quality_runs.compare_schema",
        {"schema_id": str(run.schema_id), "after": _MIN_ID},
        organization_id=job.organization_id,
    )


def _compute(job: Job, run: QualityRun) -> "RunResults":
    # Imported here because it loads numpy and scipy, which idle processes must not keep in memory.
    from app.insight.quality_runs.service import computing  # noqa: PLC0415

    plans = plan_fields(records.list_versions(run.schema_id), run.fields, run.metrics)
    job.checkpoint()
    next_report_at = 0.0

    def report(done: int, total: int) -> None:
        nonlocal next_report_at
        if monotonic() < next_report_at:
            return
        _report_progress(job, run.id, done, total)
        next_report_at = monotonic() + REPORT_SECONDS

    with answers.open_snapshot(run.schema_id, run.starts_at, run.ends_at) as snapshot:
        return computing.compute(snapshot, plans, run.schema_id, report)


def _report_progress(job: Job, run_id: UUID, done: int, total: int) -> None:
    if not records.update_progress(run_id, done=done, total=total):
        raise _RunEnded
    job.checkpoint()


@jobs.handler(
    "quality_runs.compare",
    queue="bulk",
    events=(
        tag_set_events.SUBMITTED,
        tag_set_events.ACCEPTED,
        tag_set_events.REJECTED,
        tag_set_events.REOPENED,
        tag_set_events.DELETED,
    ),
    batch=True,
)
def compare_documents(batch: list[Job]) -> None:
    """Compare the labelers' tag sets of the changed documents, and update the disagreements."""
    disagreement_updates.update(sorted({UUID(job.args["data"]["artifact_id"]) for job in batch}))


@jobs.handler("quality_runs.compare_schema", queue="bulk")
def compare_schema(job: Job) -> None:
    """Compare the labelers' tag sets of a schema's next documents, and update the disagreements.

    Enqueues a job for the documents that follow, unless no documents are left.
    """
    schema_id, after = UUID(job.args["schema_id"]), UUID(job.args["after"])
    last_artifact_id = disagreement_updates.update_next_documents(schema_id, after)
    if last_artifact_id is not None:
        jobs.enqueue(
            "quality_runs.compare_schema",
            {"schema_id": str(schema_id), "after": str(last_artifact_id)},
            organization_id=job.organization_id,
        )


@jobs.handler("quality_runs.start_outdated", queue="maintenance", every=_DAY_SECONDS)
def create_runs_for_outdated_schemas(_job: Job) -> None:
    """Create a run for each schema whose tag sets have changed after its last run.

    Only schemas that require several labelers get a run.
    """
    runs.create_runs_for_outdated_schemas()


@jobs.handler("quality_runs.forget", queue="maintenance", resumable=True, every=_DAY_SECONDS)
def delete_old_runs(job: Job) -> None:
    """Delete runs that are older than 400 days."""
    purging.purge("quality_runs", EXPIRED_CONDITION, job.checkpoint)
