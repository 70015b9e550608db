"""The destinations to which scheduled exports can deliver files."""

from collections.abc import Mapping
from typing import Any
from urllib.parse import urlsplit

from app.delivery.scheduled_exports.models import ScheduledExport
from app.engines.destinations import (
    TYPES,
    Destination,
    DestinationError,
    DestinationErrorKind,
    DestinationType,
)
from app.kit import container, errors, typed_settings
from app.kit.egress import EgressRefused, GuardedNetwork
from app.kit.secrets import DecryptionFailed
from app.kit.typed_settings import Settings

DOWNLOAD = "download"
"""The destination of files that are not delivered, but can be downloaded from this service."""
KINDS = (DOWNLOAD, *TYPES)
_FIELD = "destination.settings"
_SFTP_PORT = 22


def check_destination(kind: str, settings: Mapping[str, Any]) -> Settings:
    """Split and validate the settings of a destination. Raises 400 on `destination.settings`.

    The host must not be in a network that the operator does not allow.
    """
    if kind == DOWNLOAD:
        if settings:
            raise errors.invalid("A download has no settings.", f"{_FIELD}.{min(settings)}")
        return Settings({}, {})
    return _check_host(typed_settings.check_settings(TYPES[kind], settings, field=_FIELD))


def merge_destination(kind: str, stored: Settings, settings: Mapping[str, Any]) -> Settings:
    """Replace the settings of a destination of the same kind. Raises 400."""
    if kind == DOWNLOAD:
        return check_destination(kind, settings)
    merged = typed_settings.merge_settings(TYPES[kind], stored, settings, field=_FIELD)
    return _check_host(merged)


def read_secrets(export: ScheduledExport) -> dict[str, Any]:
    """Return the secrets of a destination, or no secrets if they cannot be decrypted."""
    try:
        return typed_settings.decrypt_secrets(export.credentials)
    except DecryptionFailed:
        # The client must send the secrets again, as if none were stored.
        return {}


def open_destination(kind: str, settings: Mapping[str, Any]) -> Destination:
    """Open a destination through the guarded network. Raises DestinationError."""
    destination_type: DestinationType = TYPES[kind]
    network = GuardedNetwork(container.current().connector_egress, _describe_refusal)
    return destination_type.open(settings, network)


def _describe_refusal(reason: str) -> DestinationError:
    message = f"The host is not allowed: {reason}."
    return DestinationError(DestinationErrorKind.NOT_ALLOWED, message)


def _check_host(checked: Settings) -> Settings:
    egress = container.current().connector_egress
    for name in ("endpoint_url", "url", "host"):
        target = checked.shown.get(name)
        if not target:
            continue
        try:
            if name == "host":
                egress.resolve_address(target, checked.shown.get("port", _SFTP_PORT))
            else:
                parts = urlsplit(target)
                egress.check_url(f"{parts.scheme}://{parts.netloc}/")
        except EgressRefused as refusal:
            message = f"This host is not accepted: {refusal.reason}."
            raise errors.invalid(message, f"{_FIELD}.{name}") from None
    return checked
