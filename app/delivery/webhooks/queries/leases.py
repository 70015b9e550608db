"""SQL of who may attempt which delivery now. It sees every organization, and the database's clock.

The relay claims what is due under a token; a deliverer exchanges that token for one of its own in
the moment of an attempt, renews what it holds, and gives back what it does not begin. A row that
somebody else has locked is passed over and never waited for, so these statements cannot deadlock.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, NamedTuple
from uuid import UUID

from sqlalchemy import text

from app.kit import db

CLAIM_LIMIT = 1000
LEASED_AT_ONCE = 256
LEASED_AT_ONCE_FAILING = 1
CLAIM_SECONDS = 30
ATTEMPT_SECONDS = 25
"""How long an attempt's lease lasts unless renewed: its deadline, and time to write it down."""
PAUSED = "paused"


class Claim(NamedTuple):
    """A claimed delivery. `failures`: those of its webhook in a row; `expired`: taken from a worker
    that did not end it in time."""

    organization_id: UUID
    webhook_id: UUID
    failures: int
    id: UUID
    lease_token: UUID
    expired: bool


class Lease(NamedTuple):
    """A delivery and the token under which it is held."""

    organization_id: str
    id: str
    token: str


@dataclass(frozen=True, slots=True)
class Taken:
    """An attempt that may begin (`verdict` pending), or why there is none: the delivery's status,
    or paused, when its lease was given back because the webhook is left alone after a failure.

    `number` counts all attempts of the delivery, `at` is the time of this one; `failures` are those
    of its webhook in a row; `secret` and `previous_secret` are encrypted, the latter only while it
    still signs.
    """

    organization_id: UUID
    id: UUID
    webhook_id: UUID
    lease_token: UUID | None
    verdict: str
    failures: int
    number: int
    round: int
    at: datetime
    event: str
    test: bool
    body: bytes
    request_id: str | None
    url: str
    secret: str
    previous_secret: str | None


# The webhooks that have something due are found one by one along the index, so that a long backlog
# of one of them costs no more than a short one. Half of what a webhook may have leased has to be
# done before there is more of it: many messages of few deliveries would cost more than those.
# Of a failing webhook there is one at a time, and none while it is paused but a test delivery.
_CLAIM = text(
    """
    WITH RECURSIVE hook AS (
        (SELECT organization_id, webhook_id FROM webhook_deliveries
         WHERE next_attempt_at IS NOT NULL ORDER BY webhook_id LIMIT 1)
        UNION ALL
        SELECT following.* FROM hook CROSS JOIN LATERAL (
            SELECT organization_id, webhook_id FROM webhook_deliveries d
            WHERE next_attempt_at IS NOT NULL AND d.webhook_id > hook.webhook_id
            ORDER BY d.webhook_id LIMIT 1) AS following
    ), room AS MATERIALIZED (
        SELECT hook.webhook_id AS id, w.failures, w.paused,
               CASE WHEN w.failures = 0 THEN :healthy ELSE :failing END AS most,
               (SELECT count(*) FROM webhook_deliveries l
                WHERE l.webhook_id = hook.webhook_id AND l.leased_until > now()) AS leased
        FROM hook CROSS JOIN LATERAL (
            SELECT consecutive_failures AS failures,
                   coalesce(paused_until > now(), false) AS paused
            FROM webhooks w
            WHERE (w.organization_id, w.id) = (hook.organization_id, hook.webhook_id) LIMIT 1) AS w
    ), due AS (
        SELECT d.*, room.failures FROM room CROSS JOIN LATERAL (
            SELECT organization_id, webhook_id, id, leased_until IS NOT NULL AS expired
            FROM webhook_deliveries
            WHERE webhook_id = room.id AND next_attempt_at <= now()
              AND (leased_until IS NULL OR leased_until <= now())
            ORDER BY next_attempt_at LIMIT greatest(room.most - room.leased, 0)
            FOR UPDATE SKIP LOCKED) AS d
        WHERE room.leased <= room.most / 2 AND NOT room.paused
        LIMIT :limit
    ), tests AS (
        SELECT d.*, room.failures FROM room CROSS JOIN LATERAL (
            SELECT organization_id, webhook_id, id, leased_until IS NOT NULL AS expired
            FROM webhook_deliveries
            WHERE webhook_id = room.id AND next_attempt_at <= now() AND test
              AND (leased_until IS NULL OR leased_until <= now())
            ORDER BY next_attempt_at LIMIT 1
            FOR UPDATE SKIP LOCKED) AS d
        WHERE room.leased = 0 AND room.paused
        LIMIT :limit
    )
    UPDATE webhook_deliveries d SET lease_token = gen_random_uuid(),
        leased_until = now() + make_interval(secs => :seconds)
    FROM (SELECT * FROM due UNION ALL SELECT * FROM tests) AS due
    WHERE (d.organization_id, d.id) = (due.organization_id, due.id)
    RETURNING d.organization_id, d.webhook_id, due.failures, d.id, d.lease_token, due.expired
    """
)

# What an attempt needs is decided and read in the statement that begins it. A predecessor whose
# outcome was never written (its worker died) gets its row here. The lateral join keeps the planner
# on the primary key: it once preferred to read every delivery of the webhook.
_TAKE = text(
    """
    WITH held AS (
        SELECT d.organization_id, d.id, d.webhook_id, d.attempt_count, d.attempted_at,
               w.url, w.secret, w.consecutive_failures AS failures,
               CASE WHEN w.previous_secret_expires_at > now()
                    THEN w.previous_secret END AS previous,
               CASE WHEN d.delivered_at > now() - interval '24 hours' THEN 'skipped'
                    WHEN NOT (w.active OR d.test) OR d.attempts_in_round >= :attempts
                    THEN 'abandoned'
                    WHEN w.paused_until > now() AND NOT d.test THEN 'paused'
                    ELSE 'pending' END AS verdict
        FROM unnest(CAST(:organizations AS uuid[]), CAST(:ids AS uuid[]), CAST(:tokens AS uuid[]))
             AS claim (organization_id, id, token)
        CROSS JOIN LATERAL (
            SELECT * FROM webhook_deliveries
            WHERE (organization_id, id) = (claim.organization_id, claim.id)
              AND lease_token = claim.token AND next_attempt_at IS NOT NULL
            FOR UPDATE SKIP LOCKED) AS d
        JOIN webhooks w ON (w.organization_id, w.id) = (d.organization_id, d.webhook_id)
    ), interrupted AS (
        INSERT INTO webhook_attempts
            (organization_id, delivery_id, number, at, duration_ms, error, error_kind)
        SELECT organization_id, id, attempt_count, attempted_at, 0, :interrupted, 'interrupted'
        FROM held WHERE attempt_count > 0
        ON CONFLICT DO NOTHING
    )
    UPDATE webhook_deliveries d SET
        status = CASE WHEN verdict = 'paused' THEN d.status ELSE verdict END,
        updated_at = CASE WHEN verdict = 'paused' THEN d.updated_at ELSE now() END,
        attempt_count = d.attempt_count + (verdict = 'pending')::int,
        attempts_in_round = d.attempts_in_round + (verdict = 'pending')::int,
        attempted_at = CASE WHEN verdict = 'pending' THEN now() ELSE d.attempted_at END,
        next_attempt_at = CASE WHEN verdict IN ('pending', 'paused') THEN d.next_attempt_at END,
        lease_token = CASE WHEN verdict = 'pending' THEN gen_random_uuid() END,
        leased_until = CASE WHEN verdict = 'pending'
                            THEN now() + make_interval(secs => :seconds) END
    FROM held WHERE (d.organization_id, d.id) = (held.organization_id, held.id)
    RETURNING d.organization_id, d.id, d.webhook_id, d.lease_token, verdict,
        held.failures, d.attempt_count AS number, d.round, now() AS at, d.event, d.test, d.body,
        d.request_id, held.url, held.secret, held.previous AS previous_secret
    """
)
_INTERRUPTED = "The worker ended before the outcome of this attempt was known."

_HELD = """
    SELECT d.organization_id, d.id
    FROM unnest(CAST(:organizations AS uuid[]), CAST(:ids AS uuid[]), CAST(:tokens AS uuid[]))
         AS held (organization_id, id, token)
    CROSS JOIN LATERAL (
        SELECT organization_id, id FROM webhook_deliveries
        WHERE (organization_id, id) = (held.organization_id, held.id)
          AND lease_token = held.token
        FOR UPDATE SKIP LOCKED) AS d
"""
_RENEW = text(
    f"""
    WITH held AS ({_HELD})
    UPDATE webhook_deliveries d SET leased_until = now() + make_interval(secs => :seconds)
    FROM held WHERE (d.organization_id, d.id) = (held.organization_id, held.id)
    """  # noqa: S608 - made of constants
)
_RELEASE = text(
    f"""
    WITH held AS ({_HELD})
    UPDATE webhook_deliveries d SET lease_token = NULL, leased_until = NULL
    FROM held WHERE (d.organization_id, d.id) = (held.organization_id, held.id)
    """  # noqa: S608 - made of constants
)
_UNTAKE = text(
    f"""
    WITH held AS ({_HELD})
    UPDATE webhook_deliveries d SET lease_token = NULL, leased_until = NULL,
        attempt_count = attempt_count - 1, attempts_in_round = attempts_in_round - 1
    FROM held WHERE (d.organization_id, d.id) = (held.organization_id, held.id)
    """  # noqa: S608 - made of constants
)
_DEPTH = text(
    "SELECT count(*), coalesce(extract(epoch FROM now() - min(next_attempt_at)), 0)"
    " FROM webhook_deliveries WHERE next_attempt_at <= now()"
)


def claim() -> list[Claim]:
    """Lease what is due: of every webhook so much that a slow one holds up no other, and of a
    failing one no more than its pace allows."""
    values = {
        "healthy": LEASED_AT_ONCE,
        "failing": LEASED_AT_ONCE_FAILING,
        "limit": CLAIM_LIMIT,
        "seconds": CLAIM_SECONDS,
    }
    return [Claim(*row) for row in db.session().execute(_CLAIM, values)]


def take(leases: Sequence[Lease], *, attempts: int) -> list[Taken]:
    """Begin attempts, at most `attempts` a round. A lease that was lost has no answer."""
    values = {"attempts": attempts, "interrupted": _INTERRUPTED, "seconds": ATTEMPT_SECONDS}
    rows = db.session().execute(_TAKE, values | _columns(leases))
    return [Taken(**{**row._mapping, "body": bytes(row.body)}) for row in rows]  # noqa: SLF001


def renew(leases: Sequence[Lease]) -> None:
    """Let leases last `CLAIM_SECONDS` from now."""
    db.session().execute(_RENEW, {"seconds": CLAIM_SECONDS} | _columns(leases))


def release(leases: Sequence[Lease]) -> None:
    """Give leases back: what they are for is due again at once."""
    db.session().execute(_RELEASE, _columns(leases))


def untake(leases: Sequence[Lease]) -> None:
    """Give back what was taken and never sent: the attempt does not count."""
    db.session().execute(_UNTAKE, _columns(leases))


def depth() -> tuple[int, float]:
    """Due deliveries, and the age of the oldest in seconds."""
    count, age = db.session().execute(_DEPTH).one()
    return int(count), float(age)


def _columns(leases: Sequence[Lease]) -> dict[str, Any]:
    return {
        "organizations": [lease.organization_id for lease in leases],
        "ids": [lease.id for lease in leases],
        "tokens": [lease.token for lease in leases],
    }
