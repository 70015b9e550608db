"""SQL queries that record the outcomes of many attempts in one transaction, for all organizations.

Webhooks are locked before their deliveries, so that neither two dispatchers nor a dispatcher and
the API can deadlock. Webhooks that another transaction has locked are skipped.
"""

from collections.abc import Sequence
from dataclasses import dataclass, fields
from operator import attrgetter
from typing import Any
from uuid import UUID

from sqlalchemy import text

from app.delivery.webhooks.queries.leases import Attempt
from app.kit import db
from app.kit.leases import RELEASE_ASSIGNMENTS

WebhookKey = tuple[UUID, UUID]
"""The organization id and the id of a webhook."""


@dataclass(frozen=True, slots=True)
class AttemptResult:
    """The result of an attempt.

    `ok` means that the response was 2xx. `fatal` means that the service could not make the attempt,
    and a retry would fail as well.
    """

    attempt: Attempt
    ok: bool
    duration_ms: int = 0
    status_code: int | None = None
    error: str | None = None
    error_kind: str | None = None
    response_excerpt: str | None = None
    fatal: bool = False

    @property
    def webhook_key(self) -> WebhookKey:
        """Return the organization id and the id of the attempt's webhook."""
        return self.attempt.organization_id, self.attempt.webhook_id

    @property
    def lease_token(self) -> UUID:
        """Return the token of the lease under which the attempt was made."""
        return self.attempt.lease.token


@dataclass(slots=True)
class WebhookHealth:
    """The failure count of a webhook, and its consequences; `recorder` computes and writes both.

    No first attempt is made for `pause` seconds from now; 0 ends a pause, and None leaves the pause
    unchanged. `deactivated` is true if the webhook is being deactivated now.
    """

    active: bool
    failures: int
    pause: float | None = None
    status_code: int | None = None
    disabled_reason: str | None = None
    deactivated: bool = False


_LOCK = text(
    """
    WITH locked AS (
        SELECT organization_id, id, active, consecutive_failures FROM webhooks
        WHERE (organization_id, id) IN (
            SELECT * FROM unnest(CAST(:organizations AS uuid[]), CAST(:webhooks AS uuid[])))
          AND deleted_at IS NULL
        FOR NO KEY UPDATE SKIP LOCKED
    )
    SELECT w.organization_id, w.id, locked.id IS NOT NULL AS locked, locked.active,
           locked.consecutive_failures
    FROM unnest(CAST(:organizations AS uuid[]), CAST(:webhooks AS uuid[]))
         AS requested (organization_id, id)
    JOIN webhooks w ON (w.organization_id, w.id) = (requested.organization_id, requested.id)
        AND w.deleted_at IS NULL
    LEFT JOIN locked ON (locked.organization_id, locked.id) = (w.organization_id, w.id)
    """
)
# Every delivery is locked before anything about it is written. Transactions that begin attempts
# then skip the delivery instead of waiting for the uncommitted row of an attempt. The recorder does
# not wait either: if another transaction has locked a delivery, its outcome is written later.
_UPDATE_DELIVERIES = text(
    f"""
    WITH outcome AS MATERIALIZED (
        SELECT d.organization_id, d.id, d.lease_token = requested.token AS is_valid,
               requested.token, requested.ok, requested.fatal
        FROM unnest(CAST(:organizations AS uuid[]), CAST(:ids AS uuid[]), CAST(:tokens AS uuid[]),
                    CAST(:ok AS boolean[]), CAST(:fatal AS boolean[]))
             AS requested (organization_id, id, token, ok, fatal)
        CROSS JOIN LATERAL (
            SELECT organization_id, id, lease_token FROM webhook_deliveries
            WHERE (organization_id, id) = (requested.organization_id, requested.id)
            FOR NO KEY UPDATE SKIP LOCKED) AS d
    ), updated AS (
        UPDATE webhook_deliveries d SET
            status = CASE WHEN ok THEN 'delivered' WHEN fatal THEN 'failed'
                          WHEN attempts_in_round > cardinality(delays) OR outdated THEN 'abandoned'
                          ELSE 'pending' END,
            next_attempt_at = CASE WHEN NOT (ok OR fatal OR outdated)
                THEN clock_timestamp() + make_interval(secs => delays[attempts_in_round]) END,
            delivered_at = CASE WHEN ok THEN clock_timestamp() END,
            {RELEASE_ASSIGNMENTS}, updated_at = clock_timestamp()
        FROM outcome
        CROSS JOIN (SELECT CAST(:delays AS integer[]) AS delays) AS retry
        CROSS JOIN LATERAL (
            SELECT x.generation < w.generation AND NOT x.test AS outdated
            FROM webhook_deliveries x
            JOIN webhooks w ON (w.organization_id, w.id) = (x.organization_id, x.webhook_id)
            WHERE (x.organization_id, x.id) = (outcome.organization_id, outcome.id)) AS webhook
        WHERE (d.organization_id, d.id) = (outcome.organization_id, outcome.id) AND outcome.is_valid
        RETURNING outcome.token
    )
    SELECT outcome.token, updated.token IS NOT NULL AS was_valid
    FROM outcome LEFT JOIN updated ON updated.token = outcome.token
    """  # noqa: S608 - made of constants
)
_LIST_EXISTING = text(
    """
    SELECT requested.token
    FROM unnest(CAST(:organizations AS uuid[]), CAST(:ids AS uuid[]), CAST(:tokens AS uuid[]))
         AS requested (organization_id, id, token)
    JOIN webhook_deliveries d USING (organization_id, id)
    """
)
# The lease was lost or the delivery was abandoned meanwhile, but the attempt has succeeded.
_MARK_DELIVERED = text(
    """
    UPDATE webhook_deliveries d SET
        delivered_at = clock_timestamp(), updated_at = clock_timestamp(),
        status = CASE WHEN d.status = 'abandoned' THEN 'delivered' ELSE d.status END
    FROM unnest(CAST(:organizations AS uuid[]), CAST(:ids AS uuid[]), CAST(:round AS integer[]))
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
    FROM unnest(CAST(:organizations AS uuid[]), CAST(:ids AS uuid[]), CAST(:number AS integer[]),
                CAST(:at AS timestamptz[]), CAST(:status_code AS integer[]),
                CAST(:error AS text[]), CAST(:error_kind AS text[]),
                CAST(:duration_ms AS integer[]), CAST(:response_excerpt AS text[]))
         AS attempt (organization_id, id, number, at, status_code, error, error_kind, duration,
                     excerpt)
    JOIN webhook_deliveries d USING (organization_id, id)
    ON CONFLICT (organization_id, delivery_id, number) DO UPDATE SET
        status_code = excluded.status_code, error = excluded.error,
        error_kind = excluded.error_kind, duration_ms = excluded.duration_ms,
        response_excerpt = excluded.response_excerpt
    """
)
_UPDATE_HEALTH = text(
    """
    UPDATE webhooks w SET consecutive_failures = counter.failures, active = counter.active,
        generation = w.generation + counter.deactivated::int,
        last_triggered_at = clock_timestamp(), last_status_code = counter.status_code,
        paused_until = CASE WHEN counter.pause IS NULL THEN w.paused_until WHEN counter.pause > 0
                            THEN clock_timestamp() + make_interval(secs => counter.pause) END,
        disabled_reason = coalesce(counter.reason, w.disabled_reason),
        deactivated_at = CASE WHEN counter.deactivated THEN clock_timestamp()
                              ELSE w.deactivated_at END
    FROM unnest(CAST(:organizations AS uuid[]), CAST(:webhooks AS uuid[]),
                CAST(:failures AS integer[]), CAST(:active AS boolean[]),
                CAST(:deactivated AS boolean[]), CAST(:pause AS double precision[]),
                CAST(:status_code AS integer[]), CAST(:disabled_reason AS text[]))
         AS counter (organization_id, id, failures, active, deactivated, pause, status_code, reason)
    WHERE (w.organization_id, w.id) = (counter.organization_id, counter.id)
    """
)


def lock_webhooks(
    webhooks: Sequence[WebhookKey],
) -> tuple[dict[WebhookKey, WebhookHealth], set[WebhookKey]]:
    """Lock webhooks against other writers of their health.

    Returns:
        The health of each webhook that is locked now, and the keys of webhooks that another
        transaction has locked. Deleted webhooks are omitted from both.
    """
    rows = db.session().execute(
        _LOCK,
        {
            "organizations": [str(organization_id) for organization_id, _ in webhooks],
            "webhooks": [str(webhook_id) for _, webhook_id in webhooks],
        },
    )
    health: dict[WebhookKey, WebhookHealth] = {}
    busy_keys: set[WebhookKey] = set()
    for row in rows:
        if row.locked:
            key = row.organization_id, row.id
            health[key] = WebhookHealth(row.active, row.consecutive_failures)
        else:
            busy_keys.add((row.organization_id, row.id))
    return health, busy_keys


def update_deliveries(results: Sequence[AttemptResult], delays: Sequence[int]) -> dict[UUID, bool]:
    """Update the status of the deliveries whose leases are still valid.

    After the n-th failure in a round, the next attempt is due in `delays[n - 1]` seconds. If there
    is no such delay, or if the delivery is outdated, the delivery is abandoned.

    Returns:
        Whether each lease was still valid, by token. Deliveries that were deleted, or that another
        transaction has locked, are omitted.
    """
    values = {**_build_columns(results, "ok", "fatal"), "delays": list(delays)}
    return {row.token: row.was_valid for row in db.session().execute(_UPDATE_DELIVERIES, values)}


def list_existing_tokens(results: Sequence[AttemptResult]) -> set[UUID]:
    """Return the lease tokens of the results whose deliveries still exist."""
    if not results:
        return set()
    return set(db.session().scalars(_LIST_EXISTING, _build_columns(results)))


def mark_delivered(results: Sequence[AttemptResult]) -> None:
    """Record that deliveries succeeded although their leases were lost, so retries are skipped."""
    if results:
        db.session().execute(_MARK_DELIVERED, _build_columns(results, "attempt.round"))


def record_attempts(results: Sequence[AttemptResult]) -> None:
    """Record attempts; an attempt that was recorded as interrupted gets its real outcome."""
    names = ("status_code", "error", "error_kind", "duration_ms", "response_excerpt")
    values = _build_columns(results, "attempt.number", "attempt.at", *names)
    db.session().execute(_RECORD, values)


def update_health(health: dict[WebhookKey, WebhookHealth]) -> None:
    """Update the health of locked webhooks; a deactivation begins a new generation."""
    names = [field.name for field in fields(WebhookHealth)]
    values = {
        "organizations": [str(organization_id) for organization_id, _ in health],
        "webhooks": [str(webhook_id) for _, webhook_id in health],
        **{name: [getattr(item, name) for item in health.values()] for name in names},
    }
    db.session().execute(_UPDATE_HEALTH, values)


def _build_columns(results: Sequence[AttemptResult], *names: str) -> dict[str, Any]:
    """Return the ids, lease tokens and named attributes of results, each as a list."""
    return {
        "organizations": [str(r.attempt.organization_id) for r in results],
        "ids": [str(r.attempt.id) for r in results],
        "tokens": [str(r.lease_token) for r in results],
        **{name.removeprefix("attempt."): list(map(attrgetter(name), results)) for name in names},
    }
