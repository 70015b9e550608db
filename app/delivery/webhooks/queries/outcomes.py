"""SQL of what became of attempts. Many outcomes are one transaction; it sees every organization.

Webhooks are locked first and in one order, and their deliveries only after: so neither two
deliverers nor a deliverer and the API wait for each other in a circle.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from sqlalchemy import text

from app.kit import db

Key = tuple[UUID, UUID]
"""(organization id, id)"""


@dataclass(frozen=True, slots=True)
class Result:
    """How an attempt ended. `fatal`: the service could not make it, nor could it later.

    `lease_token` is the attempt's own; `round` and `number` are the attempt's place; `at` is when
    it began, by the database's clock.
    """

    organization_id: UUID
    delivery_id: UUID
    webhook_id: UUID
    lease_token: UUID
    round: int
    number: int
    at: datetime
    test: bool
    ok: bool
    duration_ms: int
    status_code: int | None = None
    error: str | None = None
    error_kind: str | None = None
    response_excerpt: str | None = None
    fatal: bool = False

    @property
    def webhook(self) -> Key:
        """The key of the webhook."""
        return self.organization_id, self.webhook_id


@dataclass(slots=True)
class Tally:
    """A webhook's counters: as they were, and as they are to be written.

    `pause` is how many seconds from now it is left alone; None leaves that as it is.
    """

    active: bool
    failures: int
    pause: float | None = None
    status_code: int | None = None
    disabled_reason: str | None = None
    deactivated: bool = False


_LOCK = text(
    """
    SELECT organization_id, id, active, consecutive_failures FROM webhooks
    WHERE (organization_id, id) IN (
        SELECT * FROM unnest(CAST(:organizations AS uuid[]), CAST(:webhooks AS uuid[])))
    ORDER BY organization_id, id FOR NO KEY UPDATE
    """
)
_SETTLE = text(
    """
    UPDATE webhook_deliveries d SET
        status = CASE WHEN ok THEN 'delivered' WHEN fatal THEN 'failed'
                      WHEN attempts_in_round > cardinality(delays) THEN 'abandoned'
                      ELSE 'pending' END,
        next_attempt_at = CASE WHEN NOT (ok OR fatal)
            THEN clock_timestamp() + make_interval(secs => delays[attempts_in_round]) END,
        delivered_at = CASE WHEN ok THEN clock_timestamp() END,
        lease_token = NULL, leased_until = NULL, updated_at = clock_timestamp()
    FROM unnest(CAST(:organizations AS uuid[]), CAST(:ids AS uuid[]), CAST(:tokens AS uuid[]),
                CAST(:oks AS boolean[]), CAST(:fatals AS boolean[]))
         AS outcome (organization_id, id, token, ok, fatal),
         CAST(:delays AS integer[]) AS delays
    WHERE (d.organization_id, d.id) = (outcome.organization_id, outcome.id)
      AND d.lease_token = outcome.token
    RETURNING outcome.token
    """
)
# Somebody else holds the lease, or the delivery was abandoned meanwhile; but it did arrive.
_ARRIVED = text(
    """
    UPDATE webhook_deliveries d SET
        delivered_at = clock_timestamp(), updated_at = clock_timestamp(),
        status = CASE WHEN d.status = 'abandoned' THEN 'delivered' ELSE d.status END
    FROM unnest(CAST(:organizations AS uuid[]), CAST(:ids AS uuid[]), CAST(:rounds AS integer[]))
         AS outcome (organization_id, id, round)
    WHERE (d.organization_id, d.id) = (outcome.organization_id, outcome.id)
      AND d.round = outcome.round AND d.delivered_at IS NULL
    """
)
_RECORD = text(
    """
    INSERT INTO webhook_attempts (organization_id, delivery_id, number, at, status_code, error,
                                  error_kind, duration_ms, response_excerpt)
    SELECT attempt.*
    FROM unnest(CAST(:organizations AS uuid[]), CAST(:ids AS uuid[]), CAST(:numbers AS integer[]),
                CAST(:ats AS timestamptz[]), CAST(:status_codes AS integer[]),
                CAST(:errors AS text[]), CAST(:error_kinds AS text[]),
                CAST(:durations AS integer[]), CAST(:excerpts AS text[]))
         AS attempt (organization_id, id, number, at, status_code, error, error_kind, duration,
                     excerpt)
    JOIN webhook_deliveries d USING (organization_id, id)
    ON CONFLICT (organization_id, delivery_id, number) DO UPDATE SET
        status_code = excluded.status_code, error = excluded.error,
        error_kind = excluded.error_kind, duration_ms = excluded.duration_ms,
        response_excerpt = excluded.response_excerpt
    """
)
_COUNT = text(
    """
    UPDATE webhooks w SET consecutive_failures = tally.failures, active = tally.active,
        last_triggered_at = clock_timestamp(), last_status_code = tally.status_code,
        paused_until = CASE WHEN tally.pause IS NULL THEN w.paused_until WHEN tally.pause > 0
                            THEN clock_timestamp() + make_interval(secs => tally.pause) END,
        disabled_reason = coalesce(tally.reason, w.disabled_reason)
    FROM unnest(CAST(:organizations AS uuid[]), CAST(:webhooks AS uuid[]),
                CAST(:failures AS integer[]), CAST(:actives AS boolean[]),
                CAST(:pauses AS double precision[]), CAST(:status_codes AS integer[]),
                CAST(:reasons AS text[]))
         AS tally (organization_id, id, failures, active, pause, status_code, reason)
    WHERE (w.organization_id, w.id) = (tally.organization_id, tally.id)
    """
)
_ABANDON = text(
    """
    UPDATE webhook_deliveries SET status = 'abandoned', next_attempt_at = NULL, lease_token = NULL,
        leased_until = NULL, updated_at = clock_timestamp()
    WHERE organization_id = :organization_id
      AND webhook_id = coalesce(CAST(:webhook_id AS uuid), webhook_id)
      AND next_attempt_at IS NOT NULL AND NOT test
    """
)


def lock(webhooks: Sequence[Key]) -> dict[Key, Tally]:
    """Lock webhooks against other writers of their counters; one that is gone is left out."""
    rows = db.session().execute(
        _LOCK,
        {"organizations": [str(o) for o, _ in webhooks], "webhooks": [str(i) for _, i in webhooks]},
    )
    return {(r.organization_id, r.id): Tally(r.active, r.consecutive_failures) for r in rows}


def settle(results: Sequence[Result], delays: Sequence[int]) -> set[UUID]:
    """Write what became of the deliveries whose leases still stand; their tokens.

    After failure n of a round the next attempt is due in `delays[n - 1]` seconds; without such a
    delay the delivery is abandoned.
    """
    values = {
        **_keys(results),
        "tokens": [str(r.lease_token) for r in results],
        "oks": [r.ok for r in results],
        "fatals": [r.fatal for r in results],
        "delays": list(delays),
    }
    return {row.token for row in db.session().execute(_SETTLE, values)}


def arrived(results: Sequence[Result]) -> None:
    """Note successes whose leases were lost, so that nobody sends them once more."""
    if results:
        values = {**_keys(results), "rounds": [r.round for r in results]}
        db.session().execute(_ARRIVED, values)


def record(results: Sequence[Result]) -> None:
    """Write the attempts down; one that had been taken for interrupted gets its true outcome."""
    values = {
        **_keys(results),
        "numbers": [r.number for r in results],
        "ats": [r.at for r in results],
        "status_codes": [r.status_code for r in results],
        "errors": [r.error for r in results],
        "error_kinds": [r.error_kind for r in results],
        "durations": [r.duration_ms for r in results],
        "excerpts": [r.response_excerpt for r in results],
    }
    db.session().execute(_RECORD, values)


def count(tallies: dict[Key, Tally]) -> None:
    """Write the counters of webhooks that `lock` holds."""
    values = {
        "organizations": [str(organization) for organization, _ in tallies],
        "webhooks": [str(webhook) for _, webhook in tallies],
        "failures": [t.failures for t in tallies.values()],
        "actives": [t.active for t in tallies.values()],
        "pauses": [t.pause for t in tallies.values()],
        "status_codes": [t.status_code for t in tallies.values()],
        "reasons": [t.disabled_reason for t in tallies.values()],
    }
    db.session().execute(_COUNT, values)


def abandon(organization_id: UUID, webhook_id: UUID | None = None) -> None:
    """Give up what waits for a webhook that was deactivated, or for all; test deliveries stay."""
    values = {"organization_id": organization_id, "webhook_id": webhook_id}
    db.session().execute(_ABANDON, values)


def _keys(results: Sequence[Result]) -> dict[str, Any]:
    return {
        "organizations": [str(r.organization_id) for r in results],
        "ids": [str(r.delivery_id) for r in results],
    }
