"""Claim jobs behind a backlog that is newer than the statistics.

The planner knows neither unfinished jobs nor the queue.
"""

from app.kit import db, tenancy
from app.kit.jobs import claims

JOBS = 20_000
_QUEUE = "test"
FILL = (
    f"""
    INSERT INTO jobs (id, organization_id, queue, function, args)
    SELECT gen_random_uuid(), md5('org' || 1 + n / {JOBS})::uuid, '{_QUEUE}', 'test.waiting', '{{}}'
    FROM generate_series(1, {JOBS}) AS n
    """,
)
"""The statements that add the backlog: all jobs but one belong to one organization."""
SEEN = ("FOR UPDATE SKIP LOCKED) AS head", "SELECT EXISTS (\n        SELECT FROM fairness_keys")
"""A part of each statement that chooses a job."""


def act() -> None:
    """Claim a job of each organization, and look for due queues."""
    with tenancy.across_organizations(reason="as a worker does"), db.transaction():
        after = claims.NO_ORGANIZATION_KEY
        for _ in range(2):
            (job,) = claims.claim(_QUEUE, last_served_key=after, quota=2, batch_functions=[])
            after = claims.get_fairness_key(job)
        assert claims.has_claimable_job(_QUEUE, quota=2)
        assert claims.list_due_queues([_QUEUE, "default"]) == [_QUEUE]
