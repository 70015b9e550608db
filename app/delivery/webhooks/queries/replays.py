"""SQL queries for replays: missed deliveries of a webhook, and the state of the replay job.

The queries work on the current organization. A replay reads deliveries in the order of their
creation. It uses the index on status and event, so its cost depends only on the number of
deliveries to replay.
"""

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any, NamedTuple
from uuid import UUID

import orjson
from sqlalchemy import func, select, text

from app.delivery.webhooks.catalog import SUBSCRIBABLE
from app.delivery.webhooks.counters import DELIVERIES
from app.delivery.webhooks.models import DeliveryStatus, Webhook
from app.delivery.webhooks.queries.leases import DELIVERY_LEASES
from app.kit import counters, db, tenancy
from app.kit.leases import RELEASE_ASSIGNMENTS

BATCH_SIZE = 1_000
MISSED_STATUSES = (DeliveryStatus.ABANDONED.value, DeliveryStatus.FAILED.value)
"""The statuses of deliveries that count as missed by the receiver."""
MIN_ID = UUID(int=0)
_MIN_TIME = datetime(1970, 1, 1, tzinfo=UTC)
_MAX_TIME = datetime(9999, 1, 1, tzinfo=UTC)

# Row comparisons are used because only the index by status and event supports them. With equality
# conditions, the planner may prefer the index by time, and read all delivered deliveries before it
# finds a missed delivery.
_MATCHING = """
    FROM unnest(CAST(:statuses AS text[])) AS asked_status (status),
         unnest(CAST(:events AS text[])) AS asked_event (event)
    CROSS JOIN LATERAL (
        SELECT d.id, d.created_at, d.updated_at, d.delivered_at FROM webhook_deliveries d
        WHERE d.organization_id = :organization_id AND d.webhook_id = :webhook_id
          AND (d.status, d.event, d.created_at, d.id) > (asked_status.status, asked_event.event,
              CAST(:after AS timestamptz), CAST(:after_id AS uuid))
          AND (d.status, d.event, d.created_at) < (asked_status.status, asked_event.event,
              CAST(:until AS timestamptz))
        ORDER BY d.status, d.event, d.created_at, d.id LIMIT :batch) AS matching
"""
# Deliveries that succeeded in the last 24 hours are not replayed. Their retries are also skipped.
_NOT_SUPPRESSED = "(delivered_at IS NULL OR delivered_at <= now() - interval '24 hours')"
_OLDEST = text(f"SELECT min(matching.updated_at) {_MATCHING}")
_COUNT = text(
    f"""
    WITH chosen AS MATERIALIZED (
        SELECT matching.* {_MATCHING} ORDER BY matching.created_at, matching.id LIMIT :batch
    )
    SELECT last.created_at, last.id,
        (SELECT count(*) FROM chosen WHERE {_NOT_SUPPRESSED}) AS replayed
    FROM chosen AS last ORDER BY last.created_at DESC, last.id DESC LIMIT 1
    """  # noqa: S608 - made of constants
)
_LEASE_DURATION = f"make_interval(secs => {DELIVERY_LEASES.lease_seconds})"
# An attempt that began before a deactivation may still be under way. The replayed delivery becomes
# due when the lease of that attempt has expired.
_DUE = f"""
    CASE WHEN d.attempted_at > now() - {_LEASE_DURATION} AND NOT EXISTS (
            SELECT FROM webhook_attempts a
            WHERE (a.organization_id, a.delivery_id, a.number)
                = (d.organization_id, d.id, d.attempt_count))
        THEN d.attempted_at + {_LEASE_DURATION}
        ELSE d.created_at END
"""
_REPLAY = text(
    f"""
    WITH chosen AS MATERIALIZED (
        SELECT matching.id, matching.created_at {_MATCHING}
        ORDER BY matching.created_at, matching.id LIMIT :batch
    ), locked AS MATERIALIZED (
        SELECT d.id FROM webhook_deliveries d JOIN chosen ON chosen.id = d.id
        WHERE d.organization_id = :organization_id AND d.status = ANY(CAST(:statuses AS text[]))
          AND {_NOT_SUPPRESSED}
        ORDER BY d.id FOR NO KEY UPDATE OF d
    ), replayed AS (
        UPDATE webhook_deliveries d SET
            status = 'pending', replayed = true, generation = :generation, round = d.round + 1,
            attempts_in_round = 0, delivered_at = NULL, next_attempt_at = {_DUE},
            {RELEASE_ASSIGNMENTS}, updated_at = clock_timestamp()
        FROM locked WHERE (d.organization_id, d.id) = (:organization_id, locked.id)
        RETURNING d.id
    )
    SELECT last.created_at, last.id, (SELECT count(*) FROM replayed) AS replayed
    FROM chosen AS last ORDER BY last.created_at DESC, last.id DESC LIMIT 1
    """  # noqa: S608 - made of constants
)
# The result is later than every existing delivery, even if another machine's clock is fast.
_GET_END = text(
    """
    SELECT greatest(clock_timestamp(), max(created_at) + interval '1 microsecond')
    FROM webhook_deliveries
    WHERE organization_id = :organization_id AND webhook_id = :webhook_id
    """
)
_SAVE_STATE = text(
    "UPDATE webhooks SET replay_state = CAST(:state AS jsonb)"
    " WHERE organization_id = :organization_id AND id = :webhook_id"
)


class ReplayRange(NamedTuple):
    """Selects deliveries to replay, created from `start` (inclusive) until `until` (exclusive)."""

    start: datetime
    until: datetime
    events: Sequence[str]
    statuses: Sequence[str]


class ReplayedBatch(NamedTuple):
    """The creation time and id of a batch's last delivery, and how many the batch has replayed."""

    at: datetime
    id: UUID
    replayed_count: int


class RunningReplay(NamedTuple):
    """A replay that has not ended, with its state; `active` and `generation` are the webhook's."""

    active: bool
    generation: int
    replay: dict[str, Any]
    state: dict[str, Any]


def lock_running_replay(webhook_id: UUID, replay_id: str) -> RunningReplay | None:
    """Lock a webhook against other writers, and return its replay `replay_id`.

    Returns None if the webhook does not exist, or if the replay has ended or is not the latest one.
    """
    statement = (
        select(Webhook.active, Webhook.generation, Webhook.replay, Webhook.replay_state)
        .where(Webhook.id == webhook_id, Webhook.deleted_at.is_(None))
        .with_for_update(key_share=True)
    )
    row = db.session().execute(statement).first()
    if row is None or row.replay is None or row.replay_state is None:
        return None
    is_running = row.replay["id"] == replay_id and row.replay_state["finished_at"] is None
    return RunningReplay(*row) if is_running else None


def get_end_of_deliveries(webhook_id: UUID) -> datetime:
    """Return a time later than the creation of every existing delivery of a webhook."""
    end: datetime = db.session().execute(_GET_END, _build_key(webhook_id)).scalar_one()
    return end


def count_deliveries(webhook_id: UUID, replay_range: ReplayRange) -> int:
    """Return the number of deliveries that a replay will make pending again.

    Counts in batches: with a single statement, the planner may read all deliveries of the webhook.
    """
    count, after = 0, (replay_range.start, MIN_ID)
    while True:
        values = {**_build_parameters(webhook_id, replay_range, after), "batch": BATCH_SIZE}
        row = db.session().execute(_COUNT, values).first()
        if row is None:
            return count
        count += int(row.replayed)
        after = row.created_at, row.id


def replay_batch(
    webhook_id: UUID, generation: int, replay_range: ReplayRange, after: tuple[datetime, UUID]
) -> ReplayedBatch | None:
    """Replay up to `BATCH_SIZE` deliveries: make them pending again.

    Begins after the position `after`, a pair of creation time and delivery id. Skips deliveries
    that succeeded within the last 24 hours. Returns None if there are no deliveries after `after`.
    """
    values = _build_parameters(webhook_id, replay_range, after)
    values |= {"generation": generation, "batch": BATCH_SIZE}
    return db.find_row(ReplayedBatch, _REPLAY, values)


def save_replay_state(webhook_id: UUID, state: dict[str, Any]) -> None:
    """Save the state of a replay without changing the revision of its webhook."""
    values = {**_build_key(webhook_id), "state": orjson.dumps(state).decode()}
    db.session().execute(_SAVE_STATE, values)


def count_missed_deliveries(webhook_id: UUID) -> int:
    """Return the number of missed deliveries of a webhook, read from the stored counters."""
    facets = {"webhook_id": webhook_id, "status": MISSED_STATUSES, "event": SUBSCRIBABLE}
    total = counters.build_total(DELIVERIES, facets)
    return int(db.session().execute(select(func.coalesce(total, 0))).scalar_one())


def find_earliest_missed_time(webhook_id: UUID) -> datetime | None:
    """Return the earliest time at which a delivery of a webhook was recorded as missed.

    Returns None if the webhook has no missed deliveries.
    """
    replay_range = ReplayRange(_MIN_TIME, _MAX_TIME, SUBSCRIBABLE, MISSED_STATUSES)
    values = {**_build_parameters(webhook_id, replay_range, (_MIN_TIME, MIN_ID)), "batch": 1}
    missed_since: datetime | None = db.session().execute(_OLDEST, values).scalar_one()
    return missed_since


def _build_key(webhook_id: UUID) -> dict[str, Any]:
    return {"organization_id": tenancy.current_organization_id(), "webhook_id": webhook_id}


def _build_parameters(
    webhook_id: UUID, replay_range: ReplayRange, after: tuple[datetime, UUID]
) -> dict[str, Any]:
    return {
        **_build_key(webhook_id),
        "events": list(replay_range.events),
        "statuses": list(replay_range.statuses),
        "after": after[0],
        "after_id": after[1],
        "until": replay_range.until,
    }
