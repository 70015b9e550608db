"""Jobs with several events each (`events.emit_many`).

Their rows cost the database a fraction of a row for each event. If a group fails, it is split into
jobs with one event, so that an event that causes errors or faults does not affect the others.
"""

import orjson
from sqlalchemy import text

from app.kit import db
from app.kit.jobs import claims
from app.kit.jobs.claims import ClaimedJob, Lease

# The new jobs keep the creation time, because it decides which webhooks get their events. An
# attempt or the faults of the group make each of them run alone.
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


def split(lease: Lease, claimed: ClaimedJob, function: str, *, faults: int = 0) -> bool:
    """Replace a leased job by jobs of `function` with one event each.

    After `faults` in a row no attempt is counted, otherwise one. Returns whether the lease was
    still valid; otherwise nothing changes.
    """
    if not claims.finish(lease):
        return False
    events = [orjson.dumps(event).decode() for event in claimed.args["events"]]
    counts = {"attempts": 0 if faults else 1, "faults": faults}
    values = {"function": function, "events": events, "id": claimed.id, **counts}
    db.session().execute(_SPLIT, values)
    return True
