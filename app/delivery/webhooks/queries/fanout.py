"""SQL that creates the deliveries of events."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any, NamedTuple
from uuid import UUID

from sqlalchemy import select
from sqlalchemy.dialects.postgresql import insert

from app.delivery.webhooks.models import Delivery, Webhook
from app.identity.organizations.models import CLOSED_STATUSES, Organization
from app.kit import db, tenancy


class Subscriber(NamedTuple):
    """An active webhook with the events that it subscribes to and its time of registration."""

    id: UUID
    events: list[str]
    created_at: datetime
    generation: int


def get_org_slug() -> str:
    """Return the bound organization's slug."""
    statement = select(Organization.slug).where(
        Organization.id == tenancy.current_organization_id()
    )
    return db.session().execute(statement).scalar_one()


def lock_subscribers() -> list[Subscriber]:
    """Return the bound organization's active webhooks, locked against deletion until the commit.

    Returns none for a closed organization, so that events of its last jobs are not sent.
    """
    statement = (
        select(Webhook.id, Webhook.events, Webhook.created_at, Webhook.generation)
        .join(Organization, Organization.id == Webhook.organization_id)
        .where(
            Webhook.active,
            Webhook.deleted_at.is_(None),
            Organization.status.not_in(CLOSED_STATUSES),
        )
        .order_by(Webhook.id)
        .with_for_update(read=True, key_share=True, of=Webhook)
    )
    return [Subscriber(*row) for row in db.session().execute(statement)]


def insert_deliveries(rows: Sequence[dict[str, Any]]) -> None:
    """Insert deliveries, except those that the webhook already has for the event."""
    db.session().execute(insert(Delivery).on_conflict_do_nothing(), rows)
