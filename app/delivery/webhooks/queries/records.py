"""SQL queries for the API operations on webhooks and deliveries in the current organization."""

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import replace
from datetime import datetime
from typing import Any, NamedTuple
from uuid import UUID

from sqlalchemy import Boolean, ColumnElement, Select, any_, literal, literal_column, select

from app.delivery.webhooks.counters import DELIVERIES
from app.delivery.webhooks.models import Delivery, DeliveryAttempt, Webhook
from app.kit import counters, db, tenancy
from app.kit.leases import IS_LEASED
from app.kit.pagination import (
    CreatedFilters,
    KeyQuery,
    Page,
    PageRequest,
    build_period_conditions,
    paginate,
)
from app.kit.periods import get_created_bounds

WEBHOOK_COLUMNS: tuple[Any, ...] = (
    Webhook.id,
    Webhook.url,
    Webhook.events,
    Webhook.description,
    Webhook.active,
    Webhook.consecutive_failures,
    Webhook.last_triggered_at,
    Webhook.last_status_code,
    Webhook.disabled_reason,
    Webhook.previous_secret_expires_at,
    Webhook.created_at,
    Webhook.updated_at,
    Webhook.revision,
)
# A webhook that a job is still deleting no longer exists for users.
_IS_NOT_DELETED = Webhook.deleted_at.is_(None)


class DeliveryRecord(NamedTuple):
    """The properties of a delivery that clients see, except its attempts."""

    id: UUID
    webhook_id: UUID
    event: str
    status: str
    test: bool
    round: int
    body: bytes
    next_attempt_at: datetime | None
    delivered_at: datetime | None
    request_id: str | None
    created_at: datetime
    updated_at: datetime


class WebhookFilters(CreatedFilters, total=False):
    """Filters for the list of webhooks."""

    active: bool
    event: str


class DeliveryFilters(CreatedFilters, total=False):
    """Filters for a webhook's deliveries."""

    status: str
    event: str


_DELIVERY_COLUMNS = db.build_columns(DeliveryRecord._fields, Delivery)


def list_webhooks(page: PageRequest, filters: WebhookFilters) -> Page:
    """Return a page of the current organization's webhooks that match the filters."""
    conditions: list[ColumnElement[bool]] = [_IS_NOT_DELETED]
    if "active" in filters:
        conditions.append(Webhook.active == filters["active"])
    if "event" in filters:
        conditions.append(literal(filters["event"]) == any_(Webhook.events))
    conditions += build_period_conditions(Webhook.created_at, *get_created_bounds(filters))
    sort_columns = {"created_at": Webhook.created_at, "updated_at": Webhook.updated_at}
    statement = select(*WEBHOOK_COLUMNS).where(*conditions)
    return paginate(statement, page, sort_columns=sort_columns, unique=Webhook.id)


def get_webhook(webhook_id: UUID, *, lock: bool = False) -> Webhook | None:
    """Return a webhook, or None if it does not exist.

    If `lock` is true, the webhook is locked against other writers until the transaction ends.
    """
    statement = select(Webhook).where(Webhook.id == webhook_id, _IS_NOT_DELETED)
    if lock:
        statement = statement.with_for_update(key_share=True)
    return db.session().execute(statement).scalar_one_or_none()


def list_deliveries(webhook_id: UUID, request: PageRequest, filters: DeliveryFilters) -> Page:
    """Return a page of a webhook's deliveries that match the filters, without attempts."""
    facets = {"status": filters.get("status"), "event": filters.get("event")}
    facets = {name: value for name, value in facets.items() if value is not None}
    created_after, created_before = get_created_bounds(filters)
    conditions = [
        Delivery.organization_id == tenancy.current_organization_id(),
        Delivery.webhook_id == webhook_id,
        *(getattr(Delivery, name) == value for name, value in facets.items()),
    ]
    period = build_period_conditions(Delivery.created_at, created_after, created_before)
    all_facets = {"webhook_id": webhook_id, **facets}
    rows = select(Delivery.id).where(*conditions)
    between = counters.Between("created", Delivery.created_at, created_after, created_before, rows)
    keys = [_build_keys(all_facets, [*conditions, *period])] if facets else []
    statement = select(*_DELIVERY_COLUMNS)
    page = paginate(
        statement if keys else statement.where(*conditions, *period),
        request,
        sort_columns={"created_at": Delivery.created_at},
        unique=Delivery.id,
        total=counters.build_total(DELIVERIES, all_facets, between=between),
        key_queries=keys,
    )
    # The first page's rows have the total as their last column.
    width = len(_DELIVERY_COLUMNS)
    return replace(page, items=[DeliveryRecord._make(row[:width]) for row in page.items])


def _build_keys(facets: dict[str, Any], conditions: list[ColumnElement[bool]]) -> KeyQuery:
    """Build the query for a page's keys, which searches each status and event separately.

    Otherwise, the database might read many deliveries and find only a few that match.
    """
    branches = counters.select_combinations(DELIVERIES, ("status", "event"), facets)
    is_same_branch = (Delivery.status == branches.c.status, Delivery.event == branches.c.event)
    statement: Select[*tuple[Any, ...]] = select(Delivery.created_at, Delivery.id)
    return KeyQuery(statement.where(*is_same_branch, *conditions), branches)


def get_delivery(webhook_id: UUID, delivery_id: UUID) -> DeliveryRecord | None:
    """Return a delivery, or None if it does not exist."""
    statement = select(*_DELIVERY_COLUMNS).where(
        Delivery.id == delivery_id, Delivery.webhook_id == webhook_id
    )
    return db.find_row(DeliveryRecord, statement)


def lock_delivery(webhook_id: UUID, delivery_id: UUID) -> tuple[Delivery, bool] | None:
    """Lock a delivery, and return the delivery and whether it is leased now.

    Returns None if the delivery does not exist.
    """
    statement = (
        select(Delivery, literal_column(f"coalesce({IS_LEASED}, false)", Boolean()))
        .where(Delivery.id == delivery_id, Delivery.webhook_id == webhook_id)
        .with_for_update(of=Delivery)
    )
    row = db.session().execute(statement).first()
    return None if row is None else (row[0], bool(row[1]))


def get_attempts_by_delivery(delivery_ids: Iterable[UUID]) -> dict[UUID, list[DeliveryAttempt]]:
    """Return the attempts of each delivery by delivery id, in ascending order of their numbers."""
    attempts: dict[UUID, list[DeliveryAttempt]] = defaultdict(list)
    ids = list(delivery_ids)
    if ids:
        statement = (
            select(DeliveryAttempt)
            .where(DeliveryAttempt.delivery_id.in_(ids))
            .order_by(DeliveryAttempt.delivery_id, DeliveryAttempt.number)
        )
        for attempt in db.session().scalars(statement):
            attempts[attempt.delivery_id].append(attempt)
    return attempts
