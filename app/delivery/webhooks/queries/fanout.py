"""SQL queries that create the deliveries for events."""

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Any, NamedTuple
from uuid import UUID

from sqlalchemy import ColumnElement, func, or_, select
from sqlalchemy.dialects.postgresql import insert

from app.delivery.webhooks.models import Delivery, Webhook
from app.delivery.webhooks.queries.maintenance import RETENTION_DAYS
from app.identity.organizations.models import CLOSED_STATUSES, Organization
from app.kit import db, tenancy

_GETS_EVENTS = or_(
    Webhook.active,
    # Instances of the previous release do not write the time of a deactivation.
    func.coalesce(Webhook.deactivated_at, Webhook.updated_at)
    > func.now() - timedelta(days=RETENTION_DAYS),
)
"""The condition that a webhook is active, or was deactivated less than RETENTION_DAYS days ago."""


class Subscriber(NamedTuple):
    """The columns of a webhook that determine which events are delivered to it, and how."""

    id: UUID
    events: list[str]
    created_at: datetime
    generation: int
    active: bool


def get_org_slug() -> str:
    """Return the current organization's slug."""
    statement = select(Organization.slug).where(
        Organization.id == tenancy.current_organization_id()
    )
    return db.session().execute(statement).scalar_one()


def lock_subscribers() -> list[Subscriber]:
    """Lock and return the current organization's webhooks that get events.

    The locks are held until the commit. Active webhooks are locked against deletion. Deactivated
    webhooks are also locked against activation, so that a replay that begins with the activation
    finds every event that is recorded as missed. Returns [] for a closed organization, so that
    events of its last jobs are not sent.
    """
    active_webhooks = _lock_webhooks(Webhook.active.is_(True), key_share=True)
    # The remaining webhooks are deactivated, or were activated meanwhile. A row is never locked
    # twice, because a stronger lock could deadlock with a deletion that waits for the first lock.
    is_remaining = Webhook.id.not_in([webhook.id for webhook in active_webhooks])
    return active_webhooks + _lock_webhooks(is_remaining, _GETS_EVENTS, key_share=False)


def _lock_webhooks(*conditions: ColumnElement[bool], key_share: bool) -> list[Subscriber]:
    statement = (
        select(Webhook.id, Webhook.events, Webhook.created_at, Webhook.generation, Webhook.active)
        .join(Organization, Organization.id == Webhook.organization_id)
        .where(
            *conditions, Webhook.deleted_at.is_(None), Organization.status.not_in(CLOSED_STATUSES)
        )
        .order_by(Webhook.id)
        .with_for_update(read=True, key_share=key_share, of=Webhook)
    )
    return [Subscriber(*row) for row in db.session().execute(statement)]


def insert_deliveries(rows: Sequence[dict[str, Any]]) -> None:
    """Insert deliveries; skip a delivery if the webhook already has one for the same event."""
    # Without the option, a null `next_attempt_at` would be replaced with the default, now().
    statement = insert(Delivery).on_conflict_do_nothing().execution_options(render_nulls=True)
    db.session().execute(statement, rows)
