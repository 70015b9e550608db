"""Request and response schemas of webhooks."""

from collections.abc import Collection

from marshmallow.validate import Length

from app.delivery.webhooks.catalogue import CATALOGUE, SUBSCRIBABLE
from app.delivery.webhooks.models import DeliveryStatus
from app.delivery.webhooks.replaying import StopReason
from app.kit.api.fields import (
    Bool,
    Float,
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
_ENDED = tuple(status for status in DeliveryStatus if status is not DeliveryStatus.PENDING)
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


class ReplayDeliveries(Schema):
    """Which deliveries to send again, by the time at which they were created."""

    start = UtcDateTime(
        data_key="from", description="Inclusive. By default everything that is still stored."
    )
    end = UtcDateTime(data_key="to", description="Exclusive, at most the time of the request.")
    events = List(
        _build_event_field(SUBSCRIBABLE),
        metadata={**_EVENTS, "description": "By default all events."},
    )
    statuses = List(
        Str(validate=OneOf(_ENDED)),
        validate=Length(min=1),
        description="By default `abandoned` and `failed`. Events that were delivered within the"
        " last 24 hours are not sent again.",
    )


class ActivateWebhook(Schema):
    """The activation, optionally with a replay of what the webhook has missed."""

    replay = Nested(ReplayDeliveries)
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


class WebhookStatistics(Response):
    """The deliveries that were created since an hour, without tests."""

    since = UtcDateTime(description="The start of the hour that began at least 24 hours ago.")
    delivered = Int()
    failed = Int(description="Abandoned deliveries included.")
    pending = Int(description="All pending deliveries, also those created before `since`.")
    success_rate = Float(
        allow_none=True, description="The share of `delivered`; null if none has ended."
    )


class ListedWebhook(Webhook):
    """A registered endpoint with its statistics."""

    statistics = Nested(WebhookStatistics)


class ReplayProgress(Response):
    """The progress of a replay."""

    done = Int(description="Deliveries that are pending again, or were sent since.")
    total = Int(allow_none=True, description="Null until the deliveries have been counted.")


class WebhookReplay(Response):
    """A replay of deliveries. A background job makes them pending again, the oldest first."""

    start = UtcDateTime(data_key="from")
    end = UtcDateTime(data_key="to")
    events = List(Str(validate=OneOf(SUBSCRIBABLE)))
    statuses = List(Str(validate=OneOf(_ENDED)))
    progress = Nested(ReplayProgress)
    requested_at = UtcDateTime()
    finished_at = UtcDateTime(allow_none=True)
    stop_reason = Str(
        allow_none=True,
        validate=OneOf(tuple(StopReason)),
        description="Why the replay has ended early: the webhook was deactivated, or an error.",
    )


class WebhookDetails(ListedWebhook):
    """A registered endpoint with its statistics, what it has missed, and its latest replay."""

    missed_count = Int(description="Abandoned and failed deliveries that can be replayed.")
    replayable_until = UtcDateTime(
        allow_none=True,
        description="When the oldest of them is deleted; null if nothing was missed.",
    )
    replay = Nested(WebhookReplay, allow_none=True, description="The latest replay.")


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
