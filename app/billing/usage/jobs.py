"""Jobs that fold meter changes into daily totals, warn about limits, and recount meters."""

from app.billing.usage.service import upkeep, warnings
from app.identity.organizations import emitted_events as organization_events
from app.kit import jobs
from app.kit.jobs import Job

_FOLD_INTERVAL_SECONDS = 5
_RECONCILE_INTERVAL_SECONDS = 86_400


@jobs.handler("usage.fold", resumable=True, every=_FOLD_INTERVAL_SECONDS)
def fold(job: Job) -> None:
    """Fold the recorded changes of all meters into daily totals, and enqueue the limit checks."""
    upkeep.fold(job.checkpoint)


@jobs.handler(warnings.WARN_JOB, events=(organization_events.PLAN_CHANGED,))
def warn(_: Job) -> None:
    """Warn about each of the organization's meters that has reached 80% or 100% of its limit.

    A warning is not repeated in the same month.
    """
    warnings.warn()


@jobs.handler("usage.reconcile", queue="maintenance", every=_RECONCILE_INTERVAL_SECONDS)
def reconcile(_: Job) -> None:
    """Enqueue, for each organization, a job that compares its meters with a recount."""
    organizations = upkeep.list_organizations()
    jobs.enqueue_many(
        "usage.reconcile_organization", [(id_, {"slug": slug}) for id_, slug in organizations]
    )


@jobs.handler("usage.reconcile_organization", queue="maintenance")
def reconcile_organization(job: Job) -> None:
    """Compare an organization's meters with a recount of the measured rows; report differences."""
    assert job.organization_id is not None
    upkeep.report_differences(job.organization_id, job.args["slug"])
