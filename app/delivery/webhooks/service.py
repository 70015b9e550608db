"""Service functions for webhooks and deliveries. The dispatcher sends the deliveries."""

import secrets
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import timedelta
from typing import Any, Unpack
from uuid import UUID

import orjson
from sqlalchemy import func

from app.delivery.webhooks import abandoning, fanout, replaying
from app.delivery.webhooks.catalog import CATALOG, check_events
from app.delivery.webhooks.models import DeliveryAttempt, DeliveryStatus, Webhook
from app.delivery.webhooks.queries import records, replays, statistics
from app.delivery.webhooks.queries.records import DeliveryFilters, DeliveryRecord, WebhookFilters
from app.delivery.webhooks.replaying import ReplayRequest
from app.kit import container, db, errors, events, outbound_slots, plan_limits
from app.kit.counters import spans
from app.kit.egress import EgressRefused
from app.kit.pagination import Page, PageRequest, paginate_values
from app.kit.plan_limits import Meter

SECRET_OVERLAP = timedelta(hours=24)
STATISTICS_PERIOD = timedelta(hours=24)
_DEACTIVATED_BY_USER = "Deactivated by a user."


def list_webhooks(*, page: PageRequest, **filters: Unpack[WebhookFilters]) -> Page:
    """Return a page of webhooks that match the filters, with their statistics."""
    row_page = records.list_webhooks(page, filters)
    stats = _build_statistics([row.id for row in row_page.items])
    items = [{**row._asdict(), "statistics": stats[row.id]} for row in row_page.items]
    return replace(row_page, items=items)


def _build_statistics(webhook_ids: Sequence[UUID]) -> dict[UUID, dict[str, Any]]:
    """Build each webhook's statistics for the last 24 hours, starting at a full hour."""
    since = spans.round_down(db.utc_now() - STATISTICS_PERIOD, spans.HOUR)
    counts = statistics.count_deliveries_by_status(webhook_ids, since)
    stats = {}
    for webhook_id in webhook_ids:
        totals = counts[webhook_id]
        # A retry is skipped because its event has been delivered.
        delivered = totals.get(DeliveryStatus.DELIVERED, 0) + totals.get(DeliveryStatus.SKIPPED, 0)
        failed = totals.get(DeliveryStatus.ABANDONED, 0) + totals.get(DeliveryStatus.FAILED, 0)
        ended = delivered + failed
        stats[webhook_id] = {
            "since": since,
            "delivered": delivered,
            "failed": failed,
            "pending": totals.get(DeliveryStatus.PENDING, 0),
            "success_rate": round(delivered / ended, 4) if ended else None,
        }
    return stats


def create(*, url: str, events: list[str], description: str = "") -> dict[str, Any]:
    """Create a webhook and return it with its `secret`, which is not returned again.

    Raises 400 `validation_error` if `url` or `events` is invalid, 402 `plan_limit_reached` if the
    plan allows no more webhooks, and 503 if too many requests are waiting for other hosts.
    """
    check_events(events)
    _check_url(url)
    plan_limits.reserve(Meter.WEBHOOKS)
    secret = secrets.token_hex(32)
    webhook = Webhook(
        url=url,
        events=events,
        description=description,
        secret=container.keyring().encrypt(secret),
        # Events also use the database's clock, so the webhook gets all events from now on.
        created_at=func.now(),
    )
    db.session().add(webhook)
    db.session().flush()
    return _build_response_with_secret(webhook, secret)


def _check_url(url: str) -> None:
    """Raise 400 unless deliveries may be sent to `url`; raise 503 if no slot for checks is free."""
    try:
        container.current().egress.check_url(url, lookup_limiter=outbound_slots.hold_check_slot)
    except EgressRefused as refusal:
        raise errors.invalid(f"This URL is not accepted: {refusal.reason}.", "url") from None


def _build_response_with_secret(webhook: Webhook, secret: str) -> dict[str, Any]:
    return {**_build_response(webhook), "secret": secret}


def _build_response(webhook: Webhook) -> dict[str, Any]:
    return {column.key: getattr(webhook, column.key) for column in records.WEBHOOK_COLUMNS}


def get(webhook_id: UUID, *, lock: bool = False) -> Webhook:
    """Return a webhook, locked if `lock` is true. Raises 404 if it does not exist."""
    return errors.require_found(records.get_webhook(webhook_id, lock=lock))


def get_details(webhook_id: UUID) -> dict[str, Any]:
    """Return a webhook with statistics and replay details. Raises 404 if it does not exist."""
    return _build_details_response(get(webhook_id))


def _build_details_response(webhook: Webhook) -> dict[str, Any]:
    missed_since = replays.find_earliest_missed_time(webhook.id)
    return {
        **_build_response(webhook),
        "statistics": _build_statistics([webhook.id])[webhook.id],
        "missed_count": replays.count_missed_deliveries(webhook.id),
        "replayable_until": None if missed_since is None else missed_since + replaying.RETENTION,
        "replay": replaying.build_replay_response(webhook),
    }


def _lock_webhook(webhook_id: UUID, revision: int | None = None) -> Webhook:
    webhook = get(webhook_id, lock=True)
    errors.check_revision(revision, webhook.revision)
    return webhook


def update(
    webhook_id: UUID,
    *,
    revision: int | None,
    url: str | None = None,
    events: list[str] | None = None,
    description: str | None = None,
) -> Webhook:
    """Update the given properties of a webhook, and return the webhook.

    A new URL also applies to pending deliveries, and ends a pause. Raises 400 if a property is
    invalid, 404 if there is no such webhook, 409 if `revision` is outdated, and 503 as `create`.
    """
    if events is not None:
        check_events(events)
    if url is not None:
        get(webhook_id)
        _check_url(url)
    webhook = _lock_webhook(webhook_id, revision)
    if url is not None and url != webhook.url:
        webhook.url = url
        # The pause was for the old URL. Only a success or an activation resets the failures.
        webhook.paused_until = None
    if events is not None:
        webhook.events = events
    if description is not None:
        webhook.description = description
    db.session().flush()
    return webhook


def delete(webhook_id: UUID, *, revision: int | None) -> None:
    """Delete a webhook with its deliveries. If there are many deliveries, a job deletes them later.

    Raises 404 if the webhook does not exist, and 409 if `revision` is outdated.
    """
    webhook = _lock_webhook(webhook_id, revision)
    if abandoning.delete_or_enqueue(webhook.organization_id, webhook.id):
        db.session().delete(webhook)
    else:
        webhook.active = False
        webhook.deleted_at = func.now()
    db.session().flush()


def activate(
    webhook_id: UUID, *, revision: int | None, replay: Mapping[str, Any] | None = None
) -> dict[str, Any]:
    """Activate a webhook and reset its failures; `replay` contains the fields of `ReplayRequest`.

    A job replays the deliveries. Raises 404 if the webhook does not exist, 400 if a property of
    `replay` is invalid, and 409 if `revision` is outdated or another replay is running.
    """
    request = None if replay is None else ReplayRequest(**replay)
    if request is not None:
        replaying.check_request(request)
    webhook = _lock_webhook(webhook_id, revision)
    webhook.active = True
    webhook.consecutive_failures = 0
    webhook.paused_until = None
    webhook.disabled_reason = None
    webhook.deactivated_at = None
    if request is not None:
        replaying.request_replay(webhook, request)
    db.session().flush()
    return _build_details_response(webhook)


def deactivate(webhook_id: UUID, *, revision: int | None) -> Webhook:
    """Deactivate a webhook and abandon its pending deliveries, partly in a job if there are many.

    Raises 404 if the webhook does not exist, and 409 if `revision` is outdated.
    """
    webhook = _lock_webhook(webhook_id, revision)
    if webhook.active:
        webhook.active = False
        webhook.generation += 1
        webhook.disabled_reason = _DEACTIVATED_BY_USER
        webhook.deactivated_at = func.now()
        db.session().flush()
        abandoning.abandon_or_enqueue(webhook.organization_id, webhook.id)
    return webhook


def rotate_secret(webhook_id: UUID, *, revision: int | None) -> dict[str, Any]:
    """Rotate a webhook's signing secret, and return the webhook with the new `secret`.

    For a day, deliveries are also signed with the previous secret. Raises 404 if the webhook does
    not exist, and 409 if `revision` is outdated.
    """
    webhook = _lock_webhook(webhook_id, revision)
    secret = secrets.token_hex(32)
    webhook.previous_secret = webhook.secret
    webhook.previous_secret_expires_at = db.utc_now() + SECRET_OVERLAP
    webhook.secret = container.keyring().encrypt(secret)
    db.session().flush()
    return _build_response_with_secret(webhook, secret)


def test(webhook_id: UUID) -> dict[str, Any]:
    """Queue and return a test delivery for a webhook. Raises 404 if there is no such webhook."""
    webhook = get(webhook_id)
    request_id = events.get_request_id()
    delivery_id = fanout.create_test_delivery(webhook_id, webhook.generation, request_id)
    return _read_delivery(webhook_id, delivery_id)


def list_deliveries(
    webhook_id: UUID, *, page: PageRequest, **filters: Unpack[DeliveryFilters]
) -> Page:
    """Return a page of a webhook's deliveries and attempts. Raises 404 for an unknown webhook."""
    get(webhook_id)
    delivery_page = records.list_deliveries(webhook_id, page, filters)
    attempts = records.get_attempts_by_delivery(delivery.id for delivery in delivery_page.items)
    items = [
        _build_delivery_response(delivery, attempts.get(delivery.id, []))
        for delivery in delivery_page.items
    ]
    return replace(delivery_page, items=items)


def get_delivery(webhook_id: UUID, delivery_id: UUID) -> dict[str, Any]:
    """Return a delivery with its attempts. Raises 404 if the delivery or webhook does not exist."""
    get(webhook_id)
    return _read_delivery(webhook_id, delivery_id)


def _read_delivery(webhook_id: UUID, delivery_id: UUID) -> dict[str, Any]:
    delivery = errors.require_found(records.get_delivery(webhook_id, delivery_id))
    return _build_delivery_response(
        delivery, records.get_attempts_by_delivery([delivery_id]).get(delivery_id, [])
    )


def _build_delivery_response(
    delivery: DeliveryRecord, attempts: Sequence[DeliveryAttempt]
) -> dict[str, Any]:
    # The response contains the exact bytes that are sent, not an equivalent object.
    body = orjson.Fragment(delivery.body)
    return {**delivery._asdict(), "body": body, "attempts": attempts}


def redeliver(webhook_id: UUID, delivery_id: UUID) -> dict[str, Any]:
    """Begin another round of attempts at a delivery in any status, and return the delivery.

    Raises 404 if the webhook or the delivery does not exist, and 409 if the webhook is deactivated,
    or if the delivery is being sent or is waiting for the first attempt of its current round.
    """
    webhook = _lock_webhook(webhook_id)
    delivery, is_leased = errors.require_found(records.lock_delivery(webhook_id, delivery_id))
    if not webhook.active:
        raise errors.conflict("The webhook is deactivated. Activate it first.", state="deactivated")
    # A delivery that was pending at a deactivation counts as abandoned, even if its status is still
    # `pending`.
    is_current = delivery.generation == webhook.generation
    is_pending = delivery.status == DeliveryStatus.PENDING and is_current
    if is_pending and (is_leased or not delivery.attempts_in_round):
        raise errors.conflict("The delivery is being sent or is about to be sent.", state="pending")
    delivery.status = DeliveryStatus.PENDING.value
    delivery.generation = webhook.generation
    delivery.replayed = False
    delivery.round += 1
    delivery.attempts_in_round = 0
    delivery.delivered_at = None
    delivery.next_attempt_at = func.now()
    delivery.updated_at = db.utc_now()
    delivery.lease_token = delivery.leased_until = None
    delivery.request_id = events.get_request_id()
    db.session().flush()
    return _read_delivery(webhook_id, delivery_id)


def list_events(*, page: PageRequest) -> Page:
    """Return a page of event types from the catalog."""
    row_page = paginate_values(page, event=list(CATALOG))
    return replace(row_page, items=[CATALOG[row.event] for row in row_page.items])
