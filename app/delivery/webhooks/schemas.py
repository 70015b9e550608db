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
    Response,
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


def _build_event_field(events: Collection[str]) -> Str:
    """Return a field described as one of `events`; the service rejects others with 400, not 422."""
    return Str(max_length=100, metadata={"enum": list(events)})


class CreateWebhook(Schema):
    """A request to register an endpoint."""

    url = Str(required=True, max_length=_URL_LENGTH)
    events = List(_build_event_field(SUBSCRIBABLE), required=True, metadata=_EVENTS)
    description = Str(max_length=1000)


class UpdateWebhook(Schema):
    """The changes to a webhook."""

    url = Str(max_length=_URL_LENGTH)
    events = List(_build_event_field(SUBSCRIBABLE), metadata=_EVENTS)
    description = Str(max_length=1000)
    revision = Int()


class WebhookFilters(Schema):
    """Filters of the list of webhooks."""

    active = QueryBool()
    event = Str(validate=OneOf(SUBSCRIBABLE))
    created_after = UtcDateTime()
    created_before = UtcDateTime()


class Webhook(Response):
    """A registered endpoint."""

    id = Uuid()
    url = Str()
    events = List(_build_event_field(SUBSCRIBABLE))
    description = Str()
    active = Bool()
    consecutive_failures = Int()
    last_triggered_at = UtcDateTime(allow_none=True)
    last_status_code = Int(allow_none=True)
    disabled_reason = Str(allow_none=True)
    previous_secret_expires_at = UtcDateTime(allow_none=True)
    created_at = UtcDateTime()
    updated_at = UtcDateTime()
    revision = Int()


class WebhookWithSecret(Webhook):
    """A registered endpoint with its new signing secret, which is shown only once."""

    secret = ShownOnce("64 hexadecimal characters.")


class DeliveryFilters(Schema):
    """Filters of the list of deliveries."""

    status = Str(validate=OneOf(_STATUSES))
    event = Str(validate=OneOf(CATALOGUE))
    created_after = UtcDateTime()
    created_before = UtcDateTime()


class DeliveryAttempt(Response):
    """One attempt at a delivery."""

    number = Int()
    at = UtcDateTime()
    status_code = Int(allow_none=True)
    error = Str(allow_none=True)
    error_kind = Str(allow_none=True)
    duration_ms = Int()
    response_excerpt = Str(allow_none=True)


class Delivery(Response):
    """The delivery of one event to one webhook, with all attempts."""

    id = Uuid()
    webhook_id = Uuid()
    event = Str(validate=OneOf(CATALOGUE))
    status = Str(validate=OneOf(_STATUSES))
    test = Bool()
    round = Int(description="1 at first; increases by 1 with each redelivery.")
    body = JsonObject(description="The exact bytes that are sent.")
    attempts = List(Nested(DeliveryAttempt))
    next_attempt_at = UtcDateTime(allow_none=True)
    delivered_at = UtcDateTime(allow_none=True)
    request_id = Str(allow_none=True)
    created_at = UtcDateTime()
    updated_at = UtcDateTime()


class WebhookEvent(Response):
    """An event type."""

    event = Str(validate=OneOf(CATALOGUE))
    description = Str()
    schema = JsonObject(description="JSON Schema of the body.")
    sample = JsonObject(description="A sample body.")
