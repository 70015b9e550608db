"""Periodic background jobs that add `CountDelta` rows to `Count` rows, and check the counts."""

from app.kit.counters import upkeep
from app.kit.jobs import Job, enqueue_many, handler

_FOLD_SECONDS = 5
_CHECK_SECONDS = 86_400


@handler("counters.fold", resumable=True, every=_FOLD_SECONDS)
def fold(job: Job) -> None:
    """Add the `CountDelta` rows of all organizations to their `Count` rows, batch by batch."""
    upkeep.fold(job.checkpoint)


@handler("counters.check", queue="maintenance", every=_CHECK_SECONDS)
def enqueue_checks(_: Job) -> None:
    """Enqueue a check of the counts of each organization."""
    organizations = upkeep.list_organizations()
    enqueue_many(
        "counters.check_organization", [(id_, {"slug": slug}) for id_, slug in organizations]
    )


@handler("counters.check_organization", queue="maintenance")
def check_organization(job: Job) -> None:
    """Compare the counts of an organization with the counted rows, and repair wrong counts."""
    assert job.organization_id is not None
    upkeep.check_and_repair(job.organization_id, job.args["slug"], job.checkpoint)
