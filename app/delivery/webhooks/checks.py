"""Checks for webhook requests. Each check raises 400 with the name of the invalid property."""

from collections.abc import Sequence

from app.delivery.webhooks.catalogue import SUBSCRIBABLE
from app.kit import container, errors, outbound_slots
from app.kit.egress import EgressRefused


def check_events(names: Sequence[str], field: str = "events") -> None:
    """Raise 400 unless `names` are one or more distinct events that webhooks can subscribe to."""
    supported = list(SUBSCRIBABLE)
    if not names:
        message = f"`{field}` must contain at least one event."
        raise errors.invalid(message, field, supported=supported)
    unknown_names = [name for name in names if name not in SUBSCRIBABLE]
    if unknown_names:
        message = f"Webhooks cannot subscribe to these events: {', '.join(unknown_names[:10])}."
        raise errors.invalid(message, field, supported=supported)
    if len(set(names)) < len(names):
        raise errors.invalid(f"`{field}` must not contain duplicates.", field)


def check_url(url: str) -> None:
    """Raise 400 unless deliveries may be sent to `url`."""
    try:
        container.current().egress.check_url(url, guard=outbound_slots.hold_check_slot)
    except EgressRefused as refusal:
        raise errors.invalid(f"This URL is not accepted: {refusal.reason}.", "url") from None
