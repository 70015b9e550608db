"""Request and response schemas for webhooks."""

from marshmallow.validate import Length

from app.delivery.webhooks.catalog import CATALOG, SUBSCRIBABLE
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

_MAX_URL_LENGTH = 2048
_STATUSES = tuple(DeliveryStatus)
_ENDED_STATUSES = tuple(status for status in DeliveryStatus if status is not DeliveryStatus.PENDING)
_EVENTS_METADATA = {
    "description": f"One or more of these events, without duplicates: {', '.join(SUBSCRIBABLE)}.",
    "minItems": 1,
    "uniqueItems": True,
}
_EVENT = Str(max_length=100, metadata={"enum": list(SUBSCRIBABLE)})
"""The field for an event, with the allowed values in the API description. It does not reject other
values, because the service responds with 400 instead of 422."""


class CreateWebhook(Schema):
    """The request body that registers an endpoint as a webhook."""

    url = Str(required=True, max_length=_MAX_URL_LENGTH)
    events = List(_EVENT, required=True, metadata=_EVENTS_METADATA)
    description = Str(max_length=1000)


class UpdateWebhook(Schema):
    """The changes to a webhook; omitted properties stay the same."""

    url = Str(max_length=_MAX_URL_LENGTH)
    events = List(_EVENT, metadata=_EVENTS_METADATA)
    description = Str(max_length=1000)
    revision = Int()


class ReplayDeliveries(Schema):
    """The selection of deliveries to resend, by creation time, event and status."""

    start = UtcDateTime(
        data_key="from",
        description="The earliest creation time, inclusive. By default, all deliveries that are"
        " still stored are included.",
    )
    end = UtcDateTime(
        data_key="to",
        description="The latest creation time, exclusive. The default is the time of the request;"
        " a later time has the same effect.",
    )
    events = List(
        _EVENT,
        metadata={
            **_EVENTS_METADATA,
            "description": "The events whose deliveries are sent again; by default, all events.",
        },
    )
    statuses = List(
        Str(validate=OneOf(_ENDED_STATUSES)),
        validate=Length(min=1, max=len(_ENDED_STATUSES)),
        description="The statuses of the deliveries to send again; by default, `abandoned` and"
        " `failed`. Deliveries that succeeded within the last 24 hours are not sent again.",
    )


class ActivateWebhook(Schema):
    """The activation of a webhook, optionally with a replay of missed deliveries."""

    replay = Nested(ReplayDeliveries)
    revision = Int()


class WebhookFilters(Schema):
    """Filters for the list of webhooks."""

    active = QueryBool()
    event = Str(validate=OneOf(SUBSCRIBABLE))


class Webhook(Response):
    """An endpoint that is registered to receive events."""

    id = Uuid()
    url = Str()
    events = List(_EVENT)
    description = Str()
    active = Bool()
    consecutive_failures = Int(description="How many attempts in a row failed, not counting tests.")
    last_triggered_at = UtcDateTime(allow_none=True, description="When the last attempt ended.")
    last_status_code = Int(allow_none=True, description="The last attempt's response status.")
    disabled_reason = Str(allow_none=True)
    previous_secret_expires_at = UtcDateTime(allow_none=True)
    created_at = UtcDateTime()
    updated_at = UtcDateTime()
    revision = Int()


class WebhookStatistics(Response):
    """Statistics for the deliveries of a webhook, excluding test deliveries."""

    since = UtcDateTime(
        description="The start of the period: 24 hours ago, rounded down to the full hour."
    )
    delivered = Int(description="The number of delivered and skipped deliveries.")
    failed = Int(description="The number of failed and abandoned deliveries.")
    pending = Int(
        description="The number of pending deliveries, including those created before `since`."
    )
    success_rate = Float(
        allow_none=True,
        description="The fraction of ended deliveries that were delivered, from 0 to 1; null if no"
        " delivery has ended.",
    )


class ListedWebhook(Webhook):
    """A registered endpoint with its statistics."""

    statistics = Nested(WebhookStatistics)


class ReplayProgress(Response):
    """The progress of a replay: how many deliveries the job has made pending again."""

    done = Int(description="The number of deliveries that the job has made pending again.")
    total = Int(
        allow_none=True,
        description="The number of deliveries to replay; null until they have been counted.",
    )


class WebhookReplay(Response):
    """A replay of deliveries: a background job makes them pending again, oldest first."""

    start = UtcDateTime(data_key="from")
    end = UtcDateTime(data_key="to")
    events = List(Str(validate=OneOf(SUBSCRIBABLE)))
    statuses = List(Str(validate=OneOf(_ENDED_STATUSES)))
    progress = Nested(ReplayProgress)
    requested_at = UtcDateTime()
    finished_at = UtcDateTime(allow_none=True)
    stop_reason = Str(
        allow_none=True,
        validate=OneOf(tuple(StopReason)),
        description="The reason why the replay ended early: the webhook was deactivated, or an"
        " error occurred.",
    )


class WebhookDetails(ListedWebhook):
    """A registered endpoint with its statistics, missed deliveries and latest replay."""

    missed_count = Int(description="How many abandoned and failed deliveries can be replayed.")
    replayable_until = UtcDateTime(
        allow_none=True,
        description="When the oldest missed delivery will be deleted; null if there are no missed"
        " deliveries.",
    )
    replay = Nested(WebhookReplay, allow_none=True, description="The latest replay.")


class WebhookWithSecret(Webhook):
    """A registered endpoint with its new signing secret, which is shown only once."""

    secret = ShownOnce("The signing secret: 64 hexadecimal characters.")


class DeliveryFilters(Schema):
    """Filters for the list of deliveries."""

    status = Str(validate=OneOf(_STATUSES))
    event = Str(validate=OneOf(CATALOG))


class DeliveryAttempt(Response):
    """One attempt at a delivery, with the response or the error."""

    number = Int()
    at = UtcDateTime(description="When the attempt began.")
    status_code = Int(allow_none=True)
    error = Str(allow_none=True)
    error_kind = Str(allow_none=True, description="A code for the error, such as `timeout`.")
    duration_ms = Int()
    response_excerpt = Str(allow_none=True)


class Delivery(Response):
    """The delivery of one event to one webhook, with all attempts."""

    id = Uuid()
    webhook_id = Uuid()
    event = Str(validate=OneOf(CATALOG))
    status = Str(validate=OneOf(_STATUSES))
    test = Bool(description="Whether this is a test delivery.")
    round = Int(
        description="The number of the current round of attempts. Starts at 1, and increases by 1"
        " with each redelivery or replay."
    )
    body = JsonObject(description="The request body, byte for byte as it is sent in each attempt.")
    attempts = List(Nested(DeliveryAttempt))
    next_attempt_at = UtcDateTime(allow_none=True)
    delivered_at = UtcDateTime(allow_none=True)
    request_id = Str(allow_none=True)
    created_at = UtcDateTime()
    updated_at = UtcDateTime()


class WebhookEvent(Response):
    """An event type with the JSON Schema of its body and a sample body."""

    event = Str(validate=OneOf(CATALOG))
    description = Str()
    schema = JsonObject(description="The JSON Schema of the request body for this event.")
    sample = JsonObject(description="A sample request body for this event.")
