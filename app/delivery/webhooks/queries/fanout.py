"""SQL of turning events into deliveries."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any, NamedTuple
from uuid import UUID

from sqlalchemy import select
from sqlalchemy.dialects.postgresql import insert

from app.delivery.webhooks.models import Delivery, Webhook
from app.identity.organizations.models import GONE, Organization
from app.kit import db, tenancy


class Listener(NamedTuple):
    """An active webhook, what it subscribes to, and since when."""

    id: UUID
    events: list[str]
    created_at: datetime


def org_slug() -> str:
    """The bound organization's slug."""
    statement = select(Organization.slug).where(
        Organization.id == tenancy.current_organization_id()
    )
    return db.session().execute(statement).scalar_one()


def listeners() -> list[Listener]:
    """The bound organization's active webhooks, held against deletion until the commit.

    None where the organization is closed: what its last jobs still did is told to nobody.
    """
    statement = (
        select(Webhook.id, Webhook.events, Webhook.created_at)
        .join(Organization, Organization.id == Webhook.organization_id)
        .where(Webhook.active, Organization.status.not_in(GONE))
        .order_by(Webhook.id)
        .with_for_update(read=True, key_share=True, of=Webhook)
    )
    return [Listener(*row) for row in db.session().execute(statement)]


def add(rows: Sequence[dict[str, Any]]) -> None:
    """Insert deliveries; one that its webhook already has for the event is left as it is."""
    if rows:
        db.session().execute(insert(Delivery).on_conflict_do_nothing(), rows)
