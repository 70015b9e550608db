"""Events become deliveries: one to each webhook that hears them."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

import orjson

from app.delivery.webhooks.catalogue import TEST, TEST_MESSAGE
from app.delivery.webhooks.queries import fanout
from app.kit import db
from app.kit.ids import uuid7


@dataclass(frozen=True, slots=True)
class Happened:
    """An event of the bound organization. `at`: when the transaction that wrote it began."""

    id: str
    name: str
    data: dict[str, Any]
    request_id: str | None
    at: datetime


def fan_out(happened: Sequence[Happened]) -> None:
    """Create the deliveries of events; done twice, it changes nothing.

    A webhook hears of what happens once it is registered, and not of what happened before and
    waited for this.
    """
    wanted = [
        (listener.id, event)
        for listener in fanout.listeners()
        for event in happened
        if event.name in listener.events and event.at >= listener.created_at
    ]
    if wanted:
        slug, now = fanout.org_slug(), db.utc_now()
        fanout.add([_row(webhook_id, event, slug, now) for webhook_id, event in wanted])


def add_test(webhook_id: UUID, request_id: str | None) -> UUID:
    """Create a test delivery; its id."""
    now = db.utc_now()
    event = Happened(str(uuid7()), TEST, {"message": TEST_MESSAGE}, request_id, now)
    row = _row(webhook_id, event, fanout.org_slug(), now)
    fanout.add([{**row, "test": True}])
    created: UUID = row["id"]
    return created


def _row(webhook_id: UUID, event: Happened, slug: str, now: datetime) -> dict[str, Any]:
    """A delivery. Its body is fixed here, so that each attempt sends the same bytes."""
    body = {
        "event": event.name,
        "timestamp": now.isoformat().replace("+00:00", "Z"),
        "org_slug": slug,
        "data": event.data,
    }
    return {
        "id": uuid7(),
        "webhook_id": webhook_id,
        "event_id": UUID(event.id),
        "event": event.name,
        "body": orjson.dumps(body),
        "request_id": event.request_id,
        "created_at": now,
        "updated_at": now,
    }
