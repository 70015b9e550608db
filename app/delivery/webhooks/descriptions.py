"""OpenAPI descriptions of deliveries, built from the catalogue of events."""

from app.delivery.webhooks.catalogue import CATALOGUE, EventType
from app.kit.api.documentation import Webhook, header

_HEX = "[0-9a-f]{64}"
_HEADERS = (
    header("X-Service-Event", "The event's identifier, as in the body.", required=True),
    header(
        "X-Service-Signature",
        "HMAC-SHA-256 of the body's bytes with the signing secret.",
        required=True,
        pattern=f"^sha256={_HEX}$",
    ),
    header(
        "X-Service-Delivery",
        "The delivery id, the same in every attempt and redelivery.",
        required=True,
        format="uuid",
    ),
    header(
        "X-Service-Attempt",
        "The number of the attempt, from 1.",
        required=True,
        pattern="^[1-9][0-9]*$",
    ),
    header("webhook-id", "The delivery id, as Standard Webhooks define it.", required=True),
    header(
        "webhook-timestamp",
        "When the attempt was made, in seconds since 1970.",
        required=True,
        pattern="^[0-9]+$",
    ),
    header("webhook-signature", "The signatures, as Standard Webhooks define them.", required=True),
)


def _name_component(event: str) -> str:
    words = event.replace("_", ".").split(".")
    return "".join(word.title() for word in words) + "Event"


def _describe_event(event: EventType) -> Webhook:
    schema = {name: value for name, value in event.schema.items() if name != "$schema"}
    return Webhook(_name_component(event.event), event.description, schema, _HEADERS)


def describe() -> dict[str, Webhook]:
    """Return the OpenAPI webhook of each event by the event's identifier."""
    return {name: _describe_event(event) for name, event in CATALOGUE.items()}
