"""How much work waits, for how long, and whether that is too long."""

from typing import NamedTuple

from sqlalchemy import text

from app.kit import container, db, metrics, tenancy
from app.kit.jobs import handlers
from app.kit.jobs.queues import QUEUES, list_served

COUNTED = 100_000
"""Due jobs are counted up to so many: nobody waits for the metrics of a longer queue."""

_READ = text(
    """
    SELECT name AS queue,
        (SELECT count(*) FROM (SELECT FROM jobs WHERE queue = name AND due_at <= now()
                               LIMIT :counted) AS due) AS depth,
        coalesce(extract(epoch FROM now() - (
            SELECT due_at FROM jobs WHERE queue = name AND due_at <= now()
              AND (leased_until IS NULL OR leased_until <= now())
            ORDER BY due_at LIMIT 1)), 0) AS age
    FROM unnest(CAST(:queues AS text[])) AS name
    """
)


class Backlog(NamedTuple):
    """A queue's due rows, the seconds that the oldest waits for a worker, and when it is late."""

    queue: str
    depth: int
    age: float
    late_after: float


def read() -> list[Backlog]:
    """Return the backlog of every queue that is worked on."""
    with tenancy.across_organizations(reason="the operator looks at every organization's work"):
        outbound = container.settings().outbound
        names = [queue.name for queue in list_served(outbound=outbound)]
        rows = db.session().execute(_READ, {"queues": names, "counted": COUNTED}).all()
        sources = [(s, s.depth()) for s in handlers.SOURCES if outbound]
    jobs = [Backlog(r.queue, r.depth, float(r.age), QUEUES[r.queue].late_after) for r in rows]
    return jobs + [Backlog(s.queue, depth, age, s.late_after) for s, (depth, age) in sources]


def list_late() -> dict[str, int]:
    """Return the queues that are behind, each with the age of its oldest due row in seconds."""
    return {one.queue: round(one.age) for one in read() if one.age > one.late_after}


def readings() -> list[metrics.QueueReading]:
    """Return what the metrics show of every queue."""
    return [metrics.QueueReading(one.queue, one.depth, one.age) for one in read()]


metrics.register_collector("queues", readings)
