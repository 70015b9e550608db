"""SQL of turning events into deliveries, and of forgetting old ones."""

from collections.abc import Sequence
from typing import Any, NamedTuple
from uuid import UUID

from sqlalchemy import select, text
from sqlalchemy.dialects.postgresql import insert

from app.delivery.webhooks.models import Delivery, Webhook
from app.identity.organizations.models import Organization
from app.kit import db, tenancy

RETENTION_DAYS = 30
_PURGE_BATCH = 5000


class Listener(NamedTuple):
    """An active webhook and what it subscribes to."""

    id: UUID
    events: list[str]


def org_slug() -> str:
    """The bound organization's slug."""
    statement = select(Organization.slug).where(
        Organization.id == tenancy.current_organization_id()
    )
    return db.session().execute(statement).scalar_one()


def listeners() -> list[Listener]:
    """The bound organization's active webhooks, held against deletion until the commit."""
    statement = (
        select(Webhook.id, Webhook.events)
        .where(Webhook.active)
        .order_by(Webhook.id)
        .with_for_update(read=True, key_share=True)
    )
    return [Listener(*row) for row in db.session().execute(statement)]


def add(rows: Sequence[dict[str, Any]]) -> None:
    """Insert deliveries; one that its webhook already has for the event is left as it is."""
    if rows:
        db.session().execute(insert(Delivery).on_conflict_do_nothing(), rows)


_PURGE = text(
    """
    DELETE FROM webhook_deliveries WHERE (organization_id, id) IN (
        SELECT organization_id, id FROM webhook_deliveries
        WHERE next_attempt_at IS NULL AND updated_at < now() - make_interval(days => :days)
        LIMIT :batch FOR UPDATE SKIP LOCKED)
    """
)
_FORGET_SECRETS = text(
    "UPDATE webhooks SET previous_secret = NULL, previous_secret_expires_at = NULL"
    " WHERE previous_secret_expires_at <= now()"
)


def purge() -> bool:
    """Delete a batch of deliveries that ended long ago; whether there may be more."""
    deleted = db.session().execute(_PURGE, {"days": RETENTION_DAYS, "batch": _PURGE_BATCH})
    return bool(deleted.rowcount == _PURGE_BATCH)  # type: ignore[attr-defined]


def forget_secrets() -> None:
    """Drop rotated secrets that sign no more."""
    db.session().execute(_FORGET_SECRETS)
