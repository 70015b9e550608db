"""The backlog of queues and sources (`DueSource`): number of due rows, and age of the oldest."""

from collections.abc import Iterator
from typing import NamedTuple

from sqlalchemy import text

from app.kit import container, db, leases, metrics, tenancy
from app.kit.jobs import handlers
from app.kit.jobs.claims import IS_DUE
from app.kit.jobs.queues import QUEUES, list_served_queues

MAX_COUNTED_JOBS = 100_000
"""The maximum number of due jobs to count in a queue, so that reading metrics stays fast."""

QUEUE_DEPTH = metrics.Gauge("labeling_queue_depth", "Number of due jobs or deliveries.", ("queue",))
QUEUE_AGE = metrics.Gauge(
    "labeling_queue_oldest_due_seconds",
    "Age in seconds of the oldest due job or delivery.",
    ("queue",),
)
_MEASURE = text(
    f"""
    SELECT name AS queue,
        (SELECT count(*) FROM (SELECT FROM jobs WHERE queue = name AND {IS_DUE}
                               LIMIT :counted) AS due) AS depth,
        coalesce(extract(epoch FROM now() - (
            SELECT due_at FROM jobs WHERE queue = name AND {IS_DUE} AND {leases.IS_FREE}
            ORDER BY due_at LIMIT 1)), 0) AS age
    FROM unnest(CAST(:queues AS text[])) AS name
    """  # noqa: S608 - consists of constants
)


class Backlog(NamedTuple):
    """The backlog of a queue or due source.

    `depth` is the number of due rows. For jobs, it includes running jobs, and is at most
    MAX_COUNTED_JOBS. `age` is the number of seconds for which the oldest due row has been waiting
    for a worker. The queue is late when `age` exceeds `late_after`.
    """

    queue: str
    depth: int
    age: float
    late_after: float


def read() -> list[Backlog]:
    """Return the backlog of every queue and due source that this deployment serves."""
    with tenancy.across_organizations(reason="the operator monitors every organization's work"):
        outbound = container.settings().outbound
        names = [queue.name for queue in list_served_queues(outbound=outbound)]
        rows = db.session().execute(_MEASURE, {"queues": names, "counted": MAX_COUNTED_JOBS}).all()
        sources = [(s, s.measure_backlog()) for s in handlers.SOURCES if outbound]
    backlogs = [Backlog(r.queue, r.depth, float(r.age), QUEUES[r.queue].late_after) for r in rows]
    return backlogs + [Backlog(s.queue, depth, age, s.late_after) for s, (depth, age) in sources]


def list_late_queues() -> dict[str, int]:
    """Return the names of the late queues, each with the age of its oldest due row in seconds."""
    return {b.queue: round(b.age) for b in read() if b.age > b.late_after}


def read_for_metrics() -> Iterator[metrics.GaugeReading]:
    """Yield the depth of every queue, and the age of its oldest due row, as gauge readings."""
    for backlog in read():
        yield QUEUE_DEPTH.build_reading(backlog.depth, backlog.queue)
        yield QUEUE_AGE.build_reading(backlog.age, backlog.queue)


metrics.register_collector("queues", read_for_metrics)
