"""Fan-out of events: one delivery for each webhook that subscribes to the event."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

import orjson

from app.delivery.webhooks.catalog import TEST_EVENT, TEST_MESSAGE
from app.delivery.webhooks.models import DeliveryStatus
from app.delivery.webhooks.queries import fanout
from app.kit import db
from app.kit.ids import uuid7


@dataclass(frozen=True, slots=True)
class Event:
    """An event of the current organization; `at` is when the emitting transaction began."""

    id: str
    name: str
    data: dict[str, Any]
    request_id: str | None
    at: datetime


def fan_out(events: Sequence[Event]) -> None:
    """Fan out events: create their deliveries. A repeated call has no effect.

    A webhook gets only events that are not older than the webhook. For a webhook that was
    deactivated less than 30 days ago, the deliveries are created as abandoned and can be replayed.
    """
    pairs = [
        (subscriber, event)
        for subscriber in fanout.lock_subscribers()
        for event in events
        if event.name in subscriber.events and event.at >= subscriber.created_at
    ]
    if not pairs:
        return
    slug, now = fanout.get_org_slug(), db.utc_now()
    abandoned_state = {"status": DeliveryStatus.ABANDONED.value, "next_attempt_at": None}
    for active, state in ((True, {}), (False, abandoned_state)):
        rows = [
            {**_build_row(subscriber.id, subscriber.generation, event, slug, now), **state}
            for subscriber, event in pairs
            if subscriber.active is active
        ]
        if rows:
            fanout.insert_deliveries(rows)


def create_test_delivery(webhook_id: UUID, generation: int, request_id: str | None) -> UUID:
    """Create a test delivery for a webhook, and return the delivery's id."""
    now = db.utc_now()
    event = Event(str(uuid7()), TEST_EVENT, {"message": TEST_MESSAGE}, request_id, now)
    row = _build_row(webhook_id, generation, event, fanout.get_org_slug(), now)
    fanout.insert_deliveries([{**row, "test": True}])
    delivery_id: UUID = row["id"]
    return delivery_id


def _build_row(
    webhook_id: UUID, generation: int, event: Event, slug: str, now: datetime
) -> dict[str, Any]:
    """Build the row of a delivery, with the body that every attempt sends."""
    body = {
        "event": event.name,
        "timestamp": now.isoformat().replace("+00:00", "Z"),
        "org_slug": slug,
        "data": event.data,
    }
    return {
        "id": uuid7(),
        "webhook_id": webhook_id,
        "generation": generation,
        "event_id": UUID(event.id),
        "event": event.name,
        "body": orjson.dumps(body),
        "request_id": event.request_id,
        "created_at": now,
        "updated_at": now,
    }
