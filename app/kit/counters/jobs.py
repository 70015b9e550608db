"""Background work on counts."""

from app.kit.counters import upkeep
from app.kit.jobs import Job, handler, periodic

_FOLD_SECONDS = 5
_CHECK_SECONDS = 86_400


@handler("counters.fold", lease_seconds=120)
def fold(job: Job) -> None:
    """Fold what was counted since."""
    upkeep.fold(job.checkpoint)


@handler("counters.check", lease_seconds=600)
def check(job: Job) -> None:
    """Compare all counts with the rows, and repair what does not agree."""
    upkeep.check(job.checkpoint)


periodic("counters.fold", every=_FOLD_SECONDS)
periodic("counters.check", every=_CHECK_SECONDS)
