"""Jobs with several events each (`events.emit_many`).

One row for several events costs the database much less than a row for each event. If such a job
fails, it is split into jobs with one event each, so that an event that causes errors or faults does
not affect the other events.
"""

import orjson
from sqlalchemy import text

from app.kit import db
from app.kit.jobs import claims
from app.kit.jobs.claims import ClaimedJob, Lease

# The new jobs keep the creation time, because it determines which webhooks get the events. They
# start with an attempt or with the faults of the group, and therefore run alone.
_SPLIT = text(
    """
    INSERT INTO jobs
        (id, organization_id, queue, function, args, request_id, event_id, created_at,
         attempts, faults)
    SELECT gen_random_uuid(), organization_id, queue, :function, event, request_id,
           CAST(event ->> 'event_id' AS uuid), created_at, :attempts, :faults
    FROM jobs CROSS JOIN unnest(CAST(:events AS jsonb[])) AS event
    WHERE id = :id
    """
)


def split(lease: Lease, claimed_job: ClaimedJob, function: str, *, faults: int = 0) -> bool:
    """Replace a leased job with jobs of `function` with one event each.

    The new jobs start with `faults` consecutive faults, or if there are none with one attempt.
    Returns whether the lease was still valid; otherwise, nothing changes.
    """
    if not claims.finish(lease):
        return False
    events = [orjson.dumps(event).decode() for event in claimed_job.args["events"]]
    counts = {"attempts": 0 if faults else 1, "faults": faults}
    values = {"function": function, "events": events, "id": claimed_job.id, **counts}
    db.session().execute(_SPLIT, values)
    return True
