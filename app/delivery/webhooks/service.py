"""Service functions of webhooks and deliveries; the dispatcher sends them."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta
from typing import Any, Unpack
from uuid import UUID

import orjson
from sqlalchemy import func

from app.delivery.webhooks import abandoning, fanout
from app.delivery.webhooks.catalogue import CATALOGUE, SUBSCRIBABLE
from app.delivery.webhooks.models import DeliveryAttempt, DeliveryStatus, Webhook
from app.delivery.webhooks.queries import records
from app.delivery.webhooks.queries.records import DeliveryFilters, DeliveryRecord
from app.kit import container, db, errors, events, secrets
from app.kit.egress import EgressRefused
from app.kit.pagination import Page, PageRequest

SECRET_OVERLAP = timedelta(hours=24)
_DEACTIVATED_BY_USER = "Deactivated by a user."


list_webhooks = records.list_webhooks


def create(*, url: str, events: list[str], description: str = "") -> dict[str, Any]:
    """Register an endpoint and return it with its `secret`, which is shown only here.

    Raises 400 `validation_error` on `url` or `events`.
    """
    _check_events(events)
    _check_url(url)
    secret = secrets.random_hex(32)
    webhook = Webhook(
        url=url,
        events=events,
        description=description,
        secret=container.keyring().encrypt(secret),
        # By the database's clock, as for events: the webhook gets all events from now on.
        created_at=func.now(),
    )
    db.session().add(webhook)
    db.session().flush()
    return _describe_with_secret(webhook, secret)


def _describe_with_secret(webhook: Webhook, secret: str) -> dict[str, Any]:
    shown = {column.key: getattr(webhook, column.key) for column in records.WEBHOOK_COLUMNS}
    return {**shown, "secret": secret}


def _check_events(names: list[str]) -> None:
    if not names:
        raise errors.invalid(
            "`events` must contain at least one event.", "events", supported=list(SUBSCRIBABLE)
        )
    unknown = [name for name in names if name not in SUBSCRIBABLE]
    if unknown:
        raise errors.invalid(
            "These events cannot be subscribed to: " + ", ".join(unknown[:10]),
            "events",
            supported=list(SUBSCRIBABLE),
        )
    if len(set(names)) < len(names):
        raise errors.invalid("`events` must not contain duplicates.", "events")


def _check_url(url: str) -> None:
    try:
        container.current().egress.check_url(url)
    except EgressRefused as refusal:
        raise errors.invalid(f"This URL is not accepted: {refusal.reason}.", "url") from None


def get(webhook_id: UUID, *, lock: bool = False) -> Webhook:
    """Return one webhook, locked against other writers if `lock` is set. Raises 404."""
    webhook = records.get_webhook(webhook_id, lock=lock)
    if webhook is None:
        raise errors.not_found()
    return webhook


def _lock_webhook(webhook_id: UUID, revision: int | None = None) -> Webhook:
    webhook = get(webhook_id, lock=True)
    if revision is not None and revision != webhook.revision:
        raise errors.stale(webhook.revision)
    return webhook


def update(
    webhook_id: UUID,
    *,
    revision: int | None,
    url: str | None = None,
    events: list[str] | None = None,
    description: str | None = None,
) -> Webhook:
    """Change the given members of a webhook.

    A new URL also applies to pending deliveries, and ends a pause.

    Raises 400, 404, 409.
    """
    if events is not None:
        _check_events(events)
    if url is not None:
        get(webhook_id)
        _check_url(url)
    webhook = _lock_webhook(webhook_id, revision)
    if url is not None and url != webhook.url:
        webhook.url = url
        # The failures were those of the old URL, but only a success or an activation resets them.
        webhook.paused_until = None
    if events is not None:
        webhook.events = events
    if description is not None:
        webhook.description = description
    db.session().flush()
    return webhook


def delete(webhook_id: UUID, *, revision: int | None) -> None:
    """Delete a webhook with its deliveries; when they are many, a job deletes them afterwards.

    Raises 404, 409.
    """
    webhook = _lock_webhook(webhook_id, revision)
    if abandoning.delete_or_enqueue(webhook.organization_id, webhook.id):
        db.session().delete(webhook)
    else:
        webhook.active = False
        webhook.deleted_at = func.now()
    db.session().flush()


def activate(webhook_id: UUID, *, revision: int | None) -> Webhook:
    """Activate a webhook and reset its failures. Raises 404, 409."""
    webhook = _lock_webhook(webhook_id, revision)
    webhook.active = True
    webhook.consecutive_failures = 0
    webhook.paused_until = None
    webhook.disabled_reason = None
    db.session().flush()
    return webhook


def deactivate(webhook_id: UUID, *, revision: int | None) -> Webhook:
    """Deactivate a webhook and abandon its pending deliveries. Raises 404, 409."""
    webhook = _lock_webhook(webhook_id, revision)
    if webhook.active:
        webhook.active = False
        webhook.generation += 1
        webhook.disabled_reason = _DEACTIVATED_BY_USER
        db.session().flush()
        abandoning.abandon_or_enqueue(webhook.organization_id, webhook.id)
    return webhook


def rotate_secret(webhook_id: UUID, *, revision: int | None) -> dict[str, Any]:
    """Issue a new secret; the previous one also signs for a day. Raises 404, 409."""
    webhook = _lock_webhook(webhook_id, revision)
    secret = secrets.random_hex(32)
    webhook.previous_secret = webhook.secret
    webhook.previous_secret_expires_at = db.utc_now() + SECRET_OVERLAP
    webhook.secret = container.keyring().encrypt(secret)
    db.session().flush()
    return _describe_with_secret(webhook, secret)


def test(webhook_id: UUID) -> dict[str, Any]:
    """Queue one test delivery, even if the webhook is deactivated. Raises 404."""
    webhook = get(webhook_id)
    delivery_id = fanout.create_test(webhook_id, webhook.generation, events.request_id())
    return _read_delivery(webhook_id, delivery_id)


def list_deliveries(
    webhook_id: UUID, *, page: PageRequest, **filters: Unpack[DeliveryFilters]
) -> Page:
    """Return a page of a webhook's deliveries with their attempts. Raises 404."""
    get(webhook_id)
    deliveries = records.list_deliveries(webhook_id, page, filters)
    attempts = records.list_attempts(delivery.id for delivery in deliveries.items)
    items = [
        _describe_delivery(delivery, attempts.get(delivery.id, [])) for delivery in deliveries.items
    ]
    return replace(deliveries, items=items)


def get_delivery(webhook_id: UUID, delivery_id: UUID) -> dict[str, Any]:
    """Return one delivery with its attempts. Raises 404."""
    get(webhook_id)
    return _read_delivery(webhook_id, delivery_id)


def _read_delivery(webhook_id: UUID, delivery_id: UUID) -> dict[str, Any]:
    delivery = records.get_delivery(webhook_id, delivery_id)
    if delivery is None:
        raise errors.not_found()
    return _describe_delivery(delivery, records.list_attempts([delivery_id]).get(delivery_id, []))


def _describe_delivery(
    delivery: DeliveryRecord, attempts: Sequence[DeliveryAttempt]
) -> dict[str, Any]:
    # The exact bytes that are sent, not an equivalent object.
    body = orjson.Fragment(delivery.body)
    return {**delivery._asdict(), "body": body, "attempts": attempts}


def redeliver(webhook_id: UUID, delivery_id: UUID) -> dict[str, Any]:
    """Begin another round of the same delivery, whatever its status.

    Raises 404, and 409 if the webhook is deactivated or the delivery is already under way.
    """
    webhook = _lock_webhook(webhook_id)
    locked = records.lock_delivery(webhook_id, delivery_id)
    if locked is None:
        raise errors.not_found()
    delivery, is_leased = locked
    if not webhook.active:
        raise errors.conflict("The webhook is deactivated. Activate it first.", state="deactivated")
    # A delivery that was pending at the deactivation is abandoned, even if not yet marked so.
    is_current = delivery.generation == webhook.generation
    is_pending = delivery.status == DeliveryStatus.PENDING and is_current
    if is_pending and (is_leased or not delivery.attempts_in_round):
        raise errors.conflict("The delivery is already being sent.", state="pending")
    delivery.status = DeliveryStatus.PENDING.value
    delivery.generation = webhook.generation
    delivery.round += 1
    delivery.attempts_in_round = 0
    delivery.delivered_at = None
    delivery.next_attempt_at = func.now()
    delivery.updated_at = db.utc_now()
    delivery.lease_token = delivery.leased_until = None
    delivery.request_id = events.request_id()
    db.session().flush()
    return _read_delivery(webhook_id, delivery_id)


def list_events(*, page: PageRequest) -> Page:
    """Return a page of the event catalogue."""
    names = records.list_event_names(page, list(CATALOGUE))
    return replace(names, items=[CATALOGUE[row.event] for row in names.items])
