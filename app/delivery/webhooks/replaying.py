"""Replays of deliveries that a webhook has missed: requests, and the job that runs the replays.

A replay begins a new round of each delivery that it covers, as a redelivery does. It processes
the deliveries in the order of their creation, and stores its position in the transaction of each
batch. So a job that was killed continues after its last batch, and replays no delivery twice.
Deactivating the webhook stops the replay: deliveries that were not replayed stay unchanged, and
pending deliveries are abandoned.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Any
from uuid import UUID

from app.delivery.webhooks import abandoning
from app.delivery.webhooks.catalog import SUBSCRIBABLE, check_events
from app.delivery.webhooks.models import Webhook
from app.delivery.webhooks.queries import replays
from app.delivery.webhooks.queries.maintenance import RETENTION_DAYS
from app.delivery.webhooks.queries.replays import ReplayRange
from app.kit import db, errors, jobs
from app.kit.db import Checkpoint
from app.kit.ids import uuid7
from app.kit.logging import get_logger

log = get_logger(__name__)

REPLAY_JOB = "webhooks.replay"
RETENTION = timedelta(days=RETENTION_DAYS)


class StopReason(StrEnum):
    """The reason why a replay ended early."""

    DEACTIVATED = "deactivated"
    ERROR = "error"


@dataclass(frozen=True, slots=True)
class ReplayRequest:
    """Selects the deliveries to replay; by default, all missed deliveries that are still stored."""

    start: datetime | None = None
    end: datetime | None = None
    events: Sequence[str] = SUBSCRIBABLE
    statuses: Sequence[str] = replays.MISSED_STATUSES


def check_request(request: ReplayRequest) -> None:
    """Raise 400 if a property of a replay request is invalid; the error names the property."""
    check_events(request.events, "replay.events")
    if len(set(request.statuses)) < len(request.statuses):
        raise errors.invalid("`replay.statuses` must not contain duplicates.", "replay.statuses")
    _check_period(request.start, request.end)


def _check_period(start: datetime | None, end: datetime | None) -> None:
    """Raise 400 if the period is invalid. `end` may be in the future (see `request_replay`)."""
    now = db.utc_now()
    details = {"earliest": (now - RETENTION).isoformat().replace("+00:00", "Z")}
    if start is not None and start < now - RETENTION:
        message = f"`replay.from` must be within the last {RETENTION_DAYS} days."
        raise errors.invalid(message, "replay.from", **details)
    if start is not None and start >= now:
        raise errors.invalid("`replay.from` must be in the past.", "replay.from")
    if end is not None and end <= now - RETENTION:
        message = f"`replay.to` must not be more than {RETENTION_DAYS} days ago."
        raise errors.invalid(message, "replay.to", **details)
    if start is not None and end is not None and start >= end:
        raise errors.invalid("`replay.from` must be before `replay.to`.", "replay.from")


def request_replay(webhook: Webhook, request: ReplayRequest) -> None:
    """Store a valid replay request for an active, locked webhook, and enqueue the replay job.

    Raises 409 if another replay of the webhook is running.
    """
    state = webhook.replay_state
    if state is not None and state["finished_at"] is None and _is_replay_current(webhook):
        raise errors.conflict(
            "A replay of this webhook is still running. Wait until it ends.", state="replaying"
        )
    max_end = replays.get_end_of_deliveries(webhook.id)
    start = request.start or db.utc_now() - RETENTION
    replay_id = str(uuid7())
    webhook.replay = {
        "id": replay_id,
        "generation": webhook.generation,
        "from": start.isoformat(),
        "to": min(request.end or max_end, max_end).isoformat(),
        "events": list(request.events),
        "statuses": list(request.statuses),
        "requested_at": db.utc_now().isoformat(),
    }
    webhook.replay_state = _build_initial_state()
    db.session().flush()
    args = {"webhook_id": str(webhook.id), "replay_id": replay_id}
    jobs.enqueue(REPLAY_JOB, args, organization_id=webhook.organization_id)


def _is_replay_current(webhook: Webhook) -> bool:
    """Return whether the latest replay of a webhook was requested after its last deactivation."""
    return webhook.replay is not None and webhook.replay["generation"] == webhook.generation


def _build_initial_state() -> dict[str, Any]:
    """Build the initial state of a replay.

    `at` and `id` will be the creation time and the id of the last delivery that was processed.
    """
    return {
        "total": None,
        "done": 0,
        "at": None,
        "id": None,
        "finished_at": None,
        "stop_reason": None,
    }


def run_replay(
    organization_id: UUID, webhook_id: UUID, replay_id: str, checkpoint: Checkpoint
) -> None:
    """Abandon outdated deliveries, then run the requested replay; `checkpoint` commits batches."""
    # Deliveries that were pending at the deactivation may not be marked as abandoned yet.
    abandoning.abandon_webhook(organization_id, webhook_id, checkpoint)
    _store_total(webhook_id, replay_id, checkpoint)
    while _run_batch(webhook_id, replay_id):
        checkpoint()


def fail_replay(webhook_id: UUID, replay_id: str) -> None:
    """End a replay whose job has failed, so that another replay can be requested."""
    running_replay = replays.lock_running_replay(webhook_id, replay_id)
    if running_replay is not None:
        _store_end(webhook_id, running_replay.state, StopReason.ERROR)


def _store_total(webhook_id: UUID, replay_id: str, checkpoint: Checkpoint) -> None:
    """Count a replay's deliveries and store the total, unless the total is already stored.

    The webhook is not locked while the deliveries are being counted.
    """
    running_replay = replays.lock_running_replay(webhook_id, replay_id)
    checkpoint()
    if running_replay is None or running_replay.state["total"] is not None:
        return
    total = replays.count_deliveries(webhook_id, _parse_range(running_replay.replay))
    running_replay = replays.lock_running_replay(webhook_id, replay_id)
    if running_replay is not None:
        replays.save_replay_state(webhook_id, {**running_replay.state, "total": total})
    checkpoint()


def _run_batch(webhook_id: UUID, replay_id: str) -> bool:
    """Replay the next batch and store the position; return whether the replay continues."""
    running_replay = replays.lock_running_replay(webhook_id, replay_id)
    if running_replay is None:
        return False
    active, generation, replay, state = running_replay
    if not active or generation != replay["generation"]:
        _store_end(webhook_id, state, StopReason.DEACTIVATED)
        return False
    replay_range = _parse_range(replay)
    after = replay_range.start, replays.MIN_ID
    if state["at"] is not None:
        after = datetime.fromisoformat(state["at"]), UUID(state["id"])
    batch = replays.replay_batch(webhook_id, generation, replay_range, after)
    if batch is None:
        _store_end(webhook_id, state, None)
        return False
    position = {"at": batch.at.isoformat(), "id": str(batch.id)}
    done_count = state["done"] + batch.replayed_count
    replays.save_replay_state(webhook_id, {**state, **position, "done": done_count})
    return True


def _parse_range(replay: dict[str, Any]) -> ReplayRange:
    return ReplayRange(
        datetime.fromisoformat(replay["from"]),
        datetime.fromisoformat(replay["to"]),
        replay["events"],
        replay["statuses"],
    )


def _store_end(webhook_id: UUID, state: dict[str, Any], reason: StopReason | None) -> None:
    """Store when a replay ended, and the reason if it ended early."""
    final_state = {**state, "finished_at": db.utc_now().isoformat(), "stop_reason": reason}
    if reason is None:
        # Deliveries may have been redelivered or purged since they were counted.
        final_state["total"] = state["done"]
    replays.save_replay_state(webhook_id, final_state)
    log.info("webhook.replayed", webhook=str(webhook_id), replayed=state["done"], stopped=reason)


def build_replay_response(webhook: Webhook) -> dict[str, Any] | None:
    """Build the API response for a webhook's latest replay, or return None if there is none."""
    replay, state = webhook.replay, webhook.replay_state
    if replay is None or state is None:
        return None
    finished_at, stop_reason = state["finished_at"], state["stop_reason"]
    if finished_at is None and not _is_replay_current(webhook):
        stop_reason = StopReason.DEACTIVATED.value
    return {
        "start": datetime.fromisoformat(replay["from"]),
        "end": datetime.fromisoformat(replay["to"]),
        "events": replay["events"],
        "statuses": replay["statuses"],
        "requested_at": datetime.fromisoformat(replay["requested_at"]),
        "progress": {"done": state["done"], "total": state["total"]},
        "finished_at": None if finished_at is None else datetime.fromisoformat(finished_at),
        "stop_reason": stop_reason,
    }
