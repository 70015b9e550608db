"""SQL queries that begin attempts under leases, and requeue unsent attempts.

The queries work on all organizations and use the database's clock. The statement that begins an
attempt also leases the delivery and counts the attempt. So a delivery that waits in the queue has
no lease that could expire, and every attempt is counted. Rows that other transactions have locked
are skipped, so these statements cannot deadlock.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, NamedTuple
from uuid import UUID

from sqlalchemy import text

from app.delivery.webhooks.queries.pacing import (
    FAILURES_LEFT,
    FIRST_ATTEMPTS,
    MAX_FAILING,
    OVERDUE,
    REPLAYS,
    REPLAYS_UNDER_WAY,
    RETRIES,
    TEST_DELIVERIES,
    WEBHOOK_STATE,
)
from app.kit import db, leases
from app.kit.leases import Lease, LeasedTable

DELIVERY_LEASES = LeasedTable(
    "webhook_deliveries",
    key=("organization_id", "id"),
    lease_seconds=25,
    renew_seconds=8,
    skip_locked=True,
)
"""The leases of deliveries. They are long enough to make and record an attempt."""


class BeginLimit(NamedTuple):
    """The limit for one webhook: at most `max_attempts` attempts may begin.

    At most `max_replays` of all concurrent attempts for the webhook may be for replayed deliveries.
    """

    organization_id: UUID
    webhook_id: UUID
    max_attempts: int
    max_replays: int = 1


@dataclass(frozen=True, slots=True)
class Attempt:
    """An attempt at the delivery `id` that has begun, or a delivery that ended without an attempt.

    Attributes:
        lease_token: the token of the lease; None if nothing is to be sent.
        status: `pending`, or `skipped` or `abandoned` if nothing is to be sent.
        failures: the number of consecutive failures of the webhook when the attempt began.
        number: the attempt's number among all attempts at the delivery.
        at: when the attempt began, by the database's clock.
        expired: whether an earlier lease of the delivery has expired.
        secret: the encrypted signing secret.
        previous_secret: the encrypted previous secret; None if it has expired.
    """

    organization_id: UUID
    id: UUID
    webhook_id: UUID
    lease_token: UUID | None
    status: str
    failures: int
    number: int
    round: int
    at: datetime
    event: str
    test: bool
    replayed: bool
    expired: bool
    body: bytes
    request_id: str | None
    url: str
    secret: str
    previous_secret: str | None

    @property
    def lease(self) -> Lease:
        """Return the lease under which the attempt is made."""
        assert self.lease_token is not None
        return Lease(self.lease_token, (self.id,), self.organization_id)


# Two dispatchers must not begin attempts for the same failing webhook simultaneously, because
# neither would see the attempts of the other.
_LOCK_FAILING = text(
    """
    SELECT w.id FROM webhooks w
    WHERE (w.organization_id, w.id) IN (
        SELECT * FROM unnest(CAST(:organizations AS uuid[]), CAST(:webhooks AS uuid[])))
      AND w.consecutive_failures > 0
    FOR NO KEY UPDATE SKIP LOCKED
    """
)
_COLUMNS = f"""
    d.id, d.delivered_at, d.attempts_in_round, d.attempt_count, d.attempted_at,
    {leases.HAS_LEASE} AS expired
"""
# An earlier attempt that has no outcome because its worker was killed is recorded as interrupted.
_BEGIN = text(
    f"""
    WITH webhook AS MATERIALIZED (
        SELECT w.*, requested.quota, requested.replays FROM unnest(
            CAST(:organizations AS uuid[]), CAST(:webhooks AS uuid[]), CAST(:limits AS integer[]),
            CAST(:replays AS integer[])) AS requested (organization_id, webhook_id, quota, replays)
        CROSS JOIN LATERAL ({WEBHOOK_STATE}) AS w
        WHERE w.failures = 0 OR w.id = ANY(CAST(:locked AS uuid[]))
    ), limited AS MATERIALIZED (
        SELECT w.organization_id, w.id, w.generation, w.failures, w.quota,
            CASE WHEN NOT w.active THEN 0 WHEN w.failures = 0 THEN w.quota ELSE greatest(0, least(
                w.quota, {MAX_FAILING} - w.under_way, greatest({FAILURES_LEFT}, (
                    SELECT count(*) FROM (
                        SELECT {RETRIES} AND {OVERDUE} LIMIT {MAX_FAILING}) AS overdue)))) END
            AS retries,
            CASE WHEN NOT w.active OR w.paused THEN 0 WHEN w.failures = 0 THEN w.quota
                WHEN w.under_way > 0 OR EXISTS (SELECT {RETRIES}) THEN 0
                ELSE 1 END AS firsts,
            CASE WHEN NOT EXISTS (SELECT {REPLAYS})
                    OR w.failures > 0 AND EXISTS (SELECT {FIRST_ATTEMPTS}) THEN 0
                ELSE greatest(0, w.replays - (SELECT count(*) {REPLAYS_UNDER_WAY})) END AS replays
        FROM webhook w
    ), chosen AS MATERIALIZED (
        SELECT w.organization_id, w.id AS webhook_id, w.failures, due.*,
            CASE WHEN due.delivered_at > now() - interval '24 hours' THEN 'skipped'
                 WHEN due.attempts_in_round >= :attempts THEN 'abandoned'
                 ELSE 'pending' END AS new_status
        FROM limited w CROSS JOIN LATERAL (
            SELECT * FROM (
                SELECT * FROM (SELECT {_COLUMNS} {TEST_DELIVERIES}
                    ORDER BY d.next_attempt_at LIMIT w.quota FOR UPDATE SKIP LOCKED) AS test
                UNION ALL
                SELECT * FROM (SELECT {_COLUMNS} {RETRIES}
                    ORDER BY d.next_attempt_at LIMIT w.retries FOR UPDATE SKIP LOCKED) AS retry
                UNION ALL
                SELECT * FROM (SELECT {_COLUMNS} {FIRST_ATTEMPTS}
                    ORDER BY d.next_attempt_at LIMIT w.firsts FOR UPDATE SKIP LOCKED) AS first
                UNION ALL
                SELECT * FROM (SELECT {_COLUMNS} {REPLAYS} ORDER BY d.next_attempt_at
                    LIMIT least(w.firsts, w.replays) FOR UPDATE SKIP LOCKED) AS replay
            ) AS ready LIMIT w.quota) AS due
    ), interrupted AS (
        INSERT INTO webhook_attempts
            (organization_id, delivery_id, number, at, duration_ms, error, error_kind)
        SELECT organization_id, id, attempt_count, attempted_at, 0, :interrupted, 'interrupted'
        FROM chosen WHERE attempt_count > 0
        ON CONFLICT DO NOTHING
    )
    UPDATE webhook_deliveries d SET
        status = new_status, updated_at = now(),
        attempt_count = d.attempt_count + (new_status = 'pending')::int,
        attempts_in_round = d.attempts_in_round + (new_status = 'pending')::int,
        attempted_at = CASE WHEN new_status = 'pending' THEN now() ELSE d.attempted_at END,
        next_attempt_at = CASE WHEN new_status = 'pending' THEN d.next_attempt_at END,
        {leases.build_lease_assignments(condition="new_status = 'pending'")}
    FROM chosen, webhooks w
    WHERE (d.organization_id, d.id) = (chosen.organization_id, chosen.id)
      AND (w.organization_id, w.id) = (chosen.organization_id, chosen.webhook_id)
    RETURNING d.organization_id, d.id, d.webhook_id, d.lease_token, d.status, chosen.failures,
        d.attempt_count AS number, d.round, now() AS at, d.event, d.test, d.replayed,
        chosen.expired, d.body, d.request_id, w.url, w.secret,
        CASE WHEN w.previous_secret_expires_at > now() THEN w.previous_secret END
            AS previous_secret
    """  # noqa: S608 - made of constants
)
_INTERRUPTED_ERROR = "The worker stopped before the outcome of this attempt was known."
_REQUEUE = DELIVERY_LEASES.build_update(
    f"{leases.RELEASE_ASSIGNMENTS}, attempt_count = attempt_count - 1,"
    " attempts_in_round = attempts_in_round - 1"
)


def begin_attempts(
    limits: Sequence[BeginLimit], *, max_attempts: int, include_failing: bool = True
) -> list[Attempt]:
    """Begin attempts for webhooks: first tests, then retries, new deliveries and replays.

    Also returns the deliveries that are skipped or abandoned instead, with their new status. If
    fewer attempts begin for a webhook than its limit allows, the webhook has no other deliveries
    to attempt now, except perhaps replayed deliveries. `max_attempts` is the maximum number of
    attempts in a round. Attempts for failing webhooks begin only if `include_failing` is true.
    """
    values: dict[str, Any] = {
        "organizations": [str(limit.organization_id) for limit in limits],
        "webhooks": [str(limit.webhook_id) for limit in limits],
    }
    locked_ids = db.session().scalars(_LOCK_FAILING, values).all() if include_failing else []
    values |= {
        "limits": [limit.max_attempts for limit in limits],
        "replays": [limit.max_replays for limit in limits],
        "locked": [str(webhook_id) for webhook_id in locked_ids],
        "attempts": max_attempts,
        "interrupted": _INTERRUPTED_ERROR,
        "lease_seconds": DELIVERY_LEASES.lease_seconds,
    }
    rows = db.session().execute(_BEGIN, values)
    return [Attempt(**{**row._mapping, "body": bytes(row.body)}) for row in rows]  # noqa: SLF001


def requeue(attempts: Sequence[Attempt]) -> None:
    """Requeue deliveries whose attempts were not sent, without counting these attempts."""
    DELIVERY_LEASES.execute(_REQUEUE, [attempt.lease for attempt in attempts])
