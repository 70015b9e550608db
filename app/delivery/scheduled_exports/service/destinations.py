"""The destinations to which scheduled exports can deliver files."""

from collections.abc import Mapping
from typing import Any

from app.delivery.scheduled_exports.models import ScheduledExport
from app.engines.destinations.model import Destination, DestinationType
from app.engines.destinations.registry import TYPES
from app.engines.sources.model import HostError, HostErrorKind
from app.kit import container, errors, outbound_slots, typed_settings
from app.kit.egress import EgressRefused, GuardedNetwork
from app.kit.secrets import DecryptionFailed
from app.kit.typed_settings import ValidatedSettings

DOWNLOAD = "download"
"""The destination for files that are not sent, but can be downloaded from this service."""
KINDS = (DOWNLOAD, *TYPES)
_FIELD = "destination.settings"
_SFTP_PORT = 22


def check_destination(
    kind: str, settings: Mapping[str, Any], stored_settings: ValidatedSettings
) -> ValidatedSettings:
    """Validate a destination's settings, and return them split into public settings and secrets.

    The secrets of `stored_settings`, the destination's current settings, are kept if `settings` has
    no secrets. Raises 400 for a property of `destination.settings` if the settings are invalid, or
    if the operator does not allow connections to the host.
    """
    if kind == DOWNLOAD:
        if settings:
            message = "The destination `download` has no settings. Omit them."
            raise errors.invalid(message, f"{_FIELD}.{min(settings)}")
        return ValidatedSettings({}, {})
    merged = typed_settings.merge_settings(TYPES[kind], stored_settings, settings, field=_FIELD)
    return _check_host(merged)


def read_settings(export: ScheduledExport) -> dict[str, Any]:
    """Return the settings of a destination with its secrets.

    Raises HostError if the secrets cannot be decrypted.
    """
    try:
        return {**export.settings, **typed_settings.decrypt_secrets(export.credentials)}
    except DecryptionFailed:
        message = "The stored credentials cannot be decrypted. Send them again."
        raise HostError(HostErrorKind.CREDENTIALS_REFUSED, message) from None


def open_destination(kind: str, settings: Mapping[str, Any]) -> Destination:
    """Open a destination through the guarded network. Raises HostError if it cannot be opened."""
    destination_type: DestinationType = TYPES[kind]
    network = GuardedNetwork(container.current().connector_egress, _build_refusal_error)
    return destination_type.open(settings, network)


def _build_refusal_error(reason: str) -> HostError:
    message = f"The host is not allowed: {reason}."
    return HostError(HostErrorKind.NOT_ALLOWED, message)


def _check_host(checked_settings: ValidatedSettings) -> ValidatedSettings:
    egress, lookup_limiter = container.current().connector_egress, outbound_slots.hold_check_slot
    for name in ("endpoint_url", "url", "host"):
        target = checked_settings.public.get(name)
        if not target:
            continue
        try:
            if name == "host":
                port = checked_settings.public.get("port", _SFTP_PORT)
                egress.resolve_address(target, port, lookup_limiter=lookup_limiter)
            else:
                # `urlsplit` is not used, because it raises ValueError if the host is malformed.
                scheme_and_host = "/".join(target.partition("?")[0].split("/")[:3])
                egress.check_url(f"{scheme_and_host}/", lookup_limiter=lookup_limiter)
        except EgressRefused as refusal:
            message = f"This host is not accepted: {refusal.reason}."
            raise errors.invalid(message, f"{_FIELD}.{name}") from None
    return checked_settings
