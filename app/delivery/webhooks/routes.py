"""webhooks: outbound endpoints, their deliveries, and the catalogue of events."""

from typing import Any
from uuid import UUID

from app.delivery.webhooks import service
from app.delivery.webhooks.schemas import (
    CreateWebhook,
    Delivery,
    DeliveryFilters,
    UpdateWebhook,
    Webhook,
    WebhookEvent,
    WebhookFilters,
    WebhookWithSecret,
)
from app.kit.api.blueprint import Blueprint, Listing
from app.kit.principal import Caller

blueprint = Blueprint("webhooks", description="Outbound endpoints that are told of events.")
_MANAGE = "webhooks:manage"


@blueprint.get(
    "/webhooks",
    permission=_MANAGE,
    query=Listing(sorts=("-created_at", "updated_at"), filters=WebhookFilters),
    returns=Webhook,
)
def list_webhooks(caller: Caller, query: dict[str, Any]) -> Any:
    """List webhooks with state, failure count, last status code and time."""
    return service.list_webhooks(**query)


@blueprint.post(
    "/webhooks", permission=_MANAGE, body=CreateWebhook, returns=WebhookWithSecret, status=201
)
def create_webhook(caller: Caller, body: dict[str, Any]) -> Any:
    """Register an endpoint; the signing secret is in this response only."""
    return service.create(**body)


@blueprint.get("/webhooks/{webhook_id}", permission=_MANAGE, returns=Webhook)
def get_webhook(caller: Caller, webhook_id: UUID) -> Any:
    """Read one webhook."""
    return service.get(webhook_id)


@blueprint.patch(
    "/webhooks/{webhook_id}",
    permission=_MANAGE,
    body=UpdateWebhook,
    returns=Webhook,
    revision="optional",
)
def update_webhook(
    caller: Caller, webhook_id: UUID, body: dict[str, Any], revision: int | None
) -> Any:
    """Change URL, events or description; the secret stays."""
    return service.update(webhook_id, revision=revision, **body)


@blueprint.delete("/webhooks/{webhook_id}", permission=_MANAGE, revision="optional")
def delete_webhook(caller: Caller, webhook_id: UUID, revision: int | None) -> None:
    """Delete a webhook and its deliveries."""
    service.delete(webhook_id, revision=revision)


@blueprint.post("/webhooks/{webhook_id}/test", permission=_MANAGE, returns=Delivery, status=202)
def test_webhook(caller: Caller, webhook_id: UUID) -> Any:
    """Dispatch one test delivery; success means that it is queued, not that it was accepted."""
    return service.test(webhook_id)


@blueprint.post(
    "/webhooks/{webhook_id}/activate", permission=_MANAGE, returns=Webhook, revision="optional"
)
def activate_webhook(caller: Caller, webhook_id: UUID, revision: int | None) -> Any:
    """Activate a webhook again; its failure count starts at 0."""
    return service.activate(webhook_id, revision=revision)


@blueprint.post(
    "/webhooks/{webhook_id}/deactivate", permission=_MANAGE, returns=Webhook, revision="optional"
)
def deactivate_webhook(caller: Caller, webhook_id: UUID, revision: int | None) -> Any:
    """Stop a webhook's deliveries; those that wait are abandoned and can be redelivered later."""
    return service.deactivate(webhook_id, revision=revision)


@blueprint.post(
    "/webhooks/{webhook_id}/rotate-secret",
    permission=_MANAGE,
    returns=WebhookWithSecret,
    revision="optional",
    # Repeated without one, a rotation would lose the secret that the receiver still knows.
    idempotent=True,
)
def rotate_webhook_secret(caller: Caller, webhook_id: UUID, revision: int | None) -> Any:
    """Issue a new signing secret, shown once; the old one signs too for 24 hours."""
    return service.rotate_secret(webhook_id, revision=revision)


@blueprint.get(
    "/webhooks/{webhook_id}/deliveries",
    permission=_MANAGE,
    query=Listing(sorts=("-created_at",), filters=DeliveryFilters),
    returns=Delivery,
)
def list_webhook_deliveries(caller: Caller, webhook_id: UUID, query: dict[str, Any]) -> Any:
    """List a webhook's deliveries with every attempt, by status and event."""
    return service.list_deliveries(webhook_id, **query)


@blueprint.get(
    "/webhooks/{webhook_id}/deliveries/{delivery_id}", permission=_MANAGE, returns=Delivery
)
def get_webhook_delivery(caller: Caller, webhook_id: UUID, delivery_id: UUID) -> Any:
    """Read one delivery: body, attempts, status codes, response excerpts, timings."""
    return service.get_delivery(webhook_id, delivery_id)


@blueprint.post(
    "/webhooks/{webhook_id}/deliveries/{delivery_id}/redeliver",
    permission=_MANAGE,
    returns=Delivery,
    status=202,
)
def redeliver_webhook(caller: Caller, webhook_id: UUID, delivery_id: UUID) -> Any:
    """Send a past delivery again: the same body under the same delivery id."""
    return service.redeliver(webhook_id, delivery_id)


@blueprint.get(
    "/webhooks/events",
    access="user",
    keys=True,
    query=Listing(sorts=("event",)),
    returns=WebhookEvent,
)
def list_webhook_events(caller: Caller, query: dict[str, Any]) -> Any:
    """List the kinds of events, each with the JSON Schema of its body and a sample."""
    return service.list_events(**query)
