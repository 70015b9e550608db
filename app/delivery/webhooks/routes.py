"""Routes for webhooks, their deliveries, and the catalog of events."""

from typing import Any
from uuid import UUID

from app.delivery.webhooks import models, service
from app.delivery.webhooks.schemas import (
    ActivateWebhook,
    CreateWebhook,
    Delivery,
    DeliveryFilters,
    ListedWebhook,
    UpdateWebhook,
    Webhook,
    WebhookDetails,
    WebhookEvent,
    WebhookFilters,
    WebhookWithSecret,
)
from app.kit.api.blueprint import Blueprint, Listing
from app.kit.pagination import Page
from app.kit.principal import Caller

blueprint = Blueprint("webhooks", description="Endpoints to which events are sent.")
_PERMISSION = "webhooks:manage"


@blueprint.get(
    "/webhooks",
    permission=_PERMISSION,
    query=Listing(sort_keys=("-created_at", "updated_at"), filters=WebhookFilters, has_period=True),
    returns=ListedWebhook,
)
def list_webhooks(caller: Caller, query: dict[str, Any]) -> Page:
    """List webhooks.

    Each webhook includes the number of consecutive failures, the time and status code of its latest
    attempt, and statistics for its deliveries in the last day.
    """
    return service.list_webhooks(**query)


@blueprint.post(
    "/webhooks", permission=_PERMISSION, body=CreateWebhook, returns=WebhookWithSecret, status=201
)
def create_webhook(caller: Caller, body: dict[str, Any]) -> dict[str, Any]:
    """Create a webhook.

    Registers an endpoint for the given events. Only this response contains the signing secret.
    """
    return service.create(**body)


@blueprint.get("/webhooks/{webhook_id}", permission=_PERMISSION, returns=WebhookDetails)
def get_webhook(caller: Caller, webhook_id: UUID) -> dict[str, Any]:
    """Get a webhook.

    Includes the number of missed deliveries, the time until which they can be replayed, and the
    progress of the latest replay.
    """
    return service.get_details(webhook_id)


@blueprint.patch(
    "/webhooks/{webhook_id}",
    permission=_PERMISSION,
    body=UpdateWebhook,
    returns=Webhook,
    revision="optional",
)
def update_webhook(
    caller: Caller, webhook_id: UUID, body: dict[str, Any], revision: int | None
) -> models.Webhook:
    """Update a webhook.

    Changes the URL, events or description. The signing secret stays the same. Pending deliveries
    are sent to the new URL.
    """
    return service.update(webhook_id, revision=revision, **body)


@blueprint.delete("/webhooks/{webhook_id}", permission=_PERMISSION, revision="optional")
def delete_webhook(caller: Caller, webhook_id: UUID, revision: int | None) -> None:
    """Delete a webhook.

    Deletes the webhook and all its deliveries. Pending deliveries are not sent.
    """
    service.delete(webhook_id, revision=revision)


@blueprint.post("/webhooks/{webhook_id}/test", permission=_PERMISSION, returns=Delivery, status=202)
def test_webhook(caller: Caller, webhook_id: UUID) -> dict[str, Any]:
    """Test a webhook.

    Queues one test delivery, even if the webhook is deactivated. The response does not say whether
    the endpoint accepted the test delivery; get the delivery to see the outcome.
    """
    return service.test(webhook_id)


@blueprint.post(
    "/webhooks/{webhook_id}/activate",
    permission=_PERMISSION,
    body=ActivateWebhook,
    body_optional=True,
    returns=WebhookDetails,
    revision="optional",
)
def activate_webhook(
    caller: Caller, webhook_id: UUID, body: dict[str, Any], revision: int | None
) -> dict[str, Any]:
    """Activate a webhook.

    Events are delivered again from now on, and the failure count is reset to 0. With `replay`, a
    background job also resends the deliveries that the webhook has missed. These deliveries keep
    their ids and bodies, and are sent after new deliveries. `replay` is also possible if the
    webhook is already active. Without `replay`, abandoned deliveries stay abandoned. Responds with
    409 `conflict` if `replay` is set and a replay of this webhook is running.
    """
    return service.activate(webhook_id, revision=revision, **body)


@blueprint.post(
    "/webhooks/{webhook_id}/deactivate",
    permission=_PERMISSION,
    returns=Webhook,
    revision="optional",
)
def deactivate_webhook(caller: Caller, webhook_id: UUID, revision: int | None) -> models.Webhook:
    """Deactivate a webhook.

    Stops the deliveries to the webhook. Pending deliveries, and the deliveries of events that occur
    in the next 30 days, are recorded as abandoned. They can be replayed when the webhook is
    activated again.
    """
    return service.deactivate(webhook_id, revision=revision)


@blueprint.post(
    "/webhooks/{webhook_id}/rotate-secret",
    permission=_PERMISSION,
    returns=WebhookWithSecret,
    revision="optional",
    # Without an idempotency key, a repeated request would discard the secret the receiver uses.
    idempotent=True,
)
def rotate_webhook_secret(caller: Caller, webhook_id: UUID, revision: int | None) -> dict[str, Any]:
    """Rotate a webhook's signing secret.

    Only this response contains the new secret. For 24 hours, deliveries are also signed with the
    previous secret.
    """
    return service.rotate_secret(webhook_id, revision=revision)


@blueprint.get(
    "/webhooks/{webhook_id}/deliveries",
    permission=_PERMISSION,
    query=Listing(sort_keys=("-created_at",), filters=DeliveryFilters, has_period=True),
    returns=Delivery,
)
def list_webhook_deliveries(caller: Caller, webhook_id: UUID, query: dict[str, Any]) -> Page:
    """List deliveries of a webhook.

    Returns the deliveries with all their attempts, optionally filtered by status, event and
    creation time.
    """
    return service.list_deliveries(webhook_id, **query)


@blueprint.get(
    "/webhooks/{webhook_id}/deliveries/{delivery_id}", permission=_PERMISSION, returns=Delivery
)
def get_webhook_delivery(caller: Caller, webhook_id: UUID, delivery_id: UUID) -> dict[str, Any]:
    """Get a delivery of a webhook.

    Returns one delivery with its body and attempts. Each attempt has its time, duration, status
    code, and an excerpt of the response.
    """
    return service.get_delivery(webhook_id, delivery_id)


@blueprint.post(
    "/webhooks/{webhook_id}/deliveries/{delivery_id}/redeliver",
    permission=_PERMISSION,
    returns=Delivery,
    status=202,
)
def redeliver_webhook(caller: Caller, webhook_id: UUID, delivery_id: UUID) -> dict[str, Any]:
    """Redeliver a delivery.

    Begins a new round of attempts with the same body and the same delivery id, even if the delivery
    succeeded or was abandoned. Responds with 409 `conflict` if the webhook is deactivated, or if
    the delivery is being sent or is about to be sent.
    """
    return service.redeliver(webhook_id, delivery_id)


@blueprint.get(
    "/webhooks/events",
    access="user",
    allows_api_keys=True,
    query=Listing(sort_keys=("event",)),
    returns=WebhookEvent,
)
def list_webhook_events(caller: Caller, query: dict[str, Any]) -> Page:
    """List webhook events.

    Returns the event types, each with the JSON Schema of its body and a sample.
    """
    return service.list_events(**query)
