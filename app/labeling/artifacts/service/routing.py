"""Documents that wait for the routing rules: nobody can claim them before the rules have run."""

from collections.abc import Callable, Sequence
from datetime import timedelta
from uuid import UUID

from app.kit import metrics
from app.kit.logging import get_logger
from app.labeling.artifacts.queries import routing as queries

MAX_WAIT = timedelta(minutes=10)
"""After that a document is released unrouted, so that no outage hides it."""

RELEASED_UNROUTED = metrics.Counter(
    "labeling_artifacts_released_unrouted",
    "Documents that became available before the routing rules had run.",
    ["reason"],
    at_start=[("failed",), ("timeout",)],
)

log = get_logger(__name__)

_has_rules: list[Callable[[], bool]] = []


def bind_rules(has_rules: Callable[[], bool]) -> None:
    """Declare how to find out whether the bound organization has routing rules in force."""
    _has_rules[:] = [has_rules]


def status_when_read() -> str:
    """Return the status of a document that was just read: `routing` where there are rules."""
    return "routing" if any(has_rules() for has_rules in _has_rules) else "ready"


def finish_routing(artifact_ids: Sequence[UUID]) -> None:
    """Make documents available that were waiting for the rules; others stay as they are."""
    queries.finish(artifact_ids)


def give_up_routing(artifact_id: UUID, error: str) -> None:
    """Make a document available although routing it has failed for good."""
    if queries.finish([artifact_id]):
        RELEASED_UNROUTED.labels("failed").inc()
        log.error("routing.gave_up", artifact_id=str(artifact_id), error=error)


def release_delayed() -> int:
    """Make documents of every organization available that have waited for MAX_WAIT.

    Return how many (at most 1,000). Routing still assigns them if it comes to them later, as long
    as nobody has begun to work on them.
    """
    released = queries.finish_delayed(MAX_WAIT)
    if released:
        RELEASED_UNROUTED.labels("timeout").inc(released)
        log.error("routing.delayed", released=released, minutes=MAX_WAIT.total_seconds() // 60)
    return released
