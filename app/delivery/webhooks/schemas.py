"""Request and response schemas of webhooks."""

from collections.abc import Collection

from app.delivery.webhooks.catalogue import CATALOGUE, SUBSCRIBABLE
from app.delivery.webhooks.models import DeliveryStatus
from app.kit.api.fields import (
    Bool,
    Int,
    JsonObject,
    List,
    Nested,
    OneOf,
    QueryBool,
    Schema,
    ShownOnce,
    Str,
    UtcDateTime,
    Uuid,
)

_URL_LENGTH = 2048
_STATUSES = tuple(DeliveryStatus)
_EVENTS = {
    "description": f"One or more of {', '.join(SUBSCRIBABLE)}, each once.",
    "minItems": 1,
    "uniqueItems": True,
}


def _event(events: Collection[str]) -> Str:
    """Return a field described as one of `events`; the service rejects others with 400, not 422."""
    return Str(max_length=100, metadata={"enum": list(events)})


class CreateWebhook(Schema):
    """A request to register an endpoint."""

    url = Str(required=True, max_length=_URL_LENGTH)
    events = List(_event(SUBSCRIBABLE), required=True, metadata=_EVENTS)
    description = Str(max_length=1000)


class UpdateWebhook(Schema):
    """The changes to a webhook."""

    url = Str(max_length=_URL_LENGTH)
    events = List(_event(SUBSCRIBABLE), metadata=_EVENTS)
    description = Str(max_length=1000)
    revision = Int()


class WebhookFilters(Schema):
    """Filters of the list of webhooks."""

    active = QueryBool()
    event = Str(validate=OneOf(SUBSCRIBABLE))
    created_after = UtcDateTime()
    created_before = UtcDateTime()


class Webhook(Schema):
    """A registered endpoint."""

    id = Uuid(required=True)
    url = Str(required=True)
    events = List(_event(SUBSCRIBABLE), required=True)
    description = Str(required=True)
    active = Bool(required=True)
    consecutive_failures = Int(required=True)
    last_triggered_at = UtcDateTime(required=True, allow_none=True)
    last_status_code = Int(required=True, allow_none=True)
    disabled_reason = Str(required=True, allow_none=True)
    previous_secret_expires_at = UtcDateTime(required=True, allow_none=True)
    created_at = UtcDateTime(required=True)
    updated_at = UtcDateTime(required=True)
    revision = Int(required=True)


class WebhookWithSecret(Webhook):
    """A registered endpoint with its new signing secret, which is shown only once."""

    secret = ShownOnce("64 hexadecimal characters.")


class DeliveryFilters(Schema):
    """Filters of the list of deliveries."""

    status = Str(validate=OneOf(_STATUSES))
    event = Str(validate=OneOf(CATALOGUE))
    created_after = UtcDateTime()
    created_before = UtcDateTime()


class DeliveryAttempt(Schema):
    """One attempt at a delivery."""

    number = Int(required=True)
    at = UtcDateTime(required=True)
    status_code = Int(required=True, allow_none=True)
    error = Str(required=True, allow_none=True)
    error_kind = Str(required=True, allow_none=True)
    duration_ms = Int(required=True)
    response_excerpt = Str(required=True, allow_none=True)


class Delivery(Schema):
    """The delivery of one event to one webhook, with all attempts."""

    id = Uuid(required=True)
    webhook_id = Uuid(required=True)
    event = Str(required=True, validate=OneOf(CATALOGUE))
    status = Str(required=True, validate=OneOf(_STATUSES))
    test = Bool(required=True)
    round = Int(
        required=True, metadata={"description": "1 at first; increases by 1 with each redelivery."}
    )
    body = JsonObject(required=True, metadata={"description": "The exact bytes that are sent."})
    attempts = List(Nested(DeliveryAttempt), required=True)
    next_attempt_at = UtcDateTime(required=True, allow_none=True)
    delivered_at = UtcDateTime(required=True, allow_none=True)
    request_id = Str(required=True, allow_none=True)
    created_at = UtcDateTime(required=True)
    updated_at = UtcDateTime(required=True)


class WebhookEvent(Schema):
    """An event type."""

    event = Str(required=True, validate=OneOf(CATALOGUE))
    description = Str(required=True)
    schema = JsonObject(required=True, metadata={"description": "JSON Schema of the body."})
    sample = JsonObject(required=True, metadata={"description": "A sample body."})
