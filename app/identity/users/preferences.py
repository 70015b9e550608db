"""Notification preferences: the default channels of each kind, and the user's choices."""

from collections.abc import Mapping
from typing import Any

DEFAULT_CHANNELS: Mapping[str, tuple[bool, bool]] = {
    "assignment": (True, False),
    "mention": (True, True),
    "review_rejected": (True, True),
    "export_ready": (True, True),
    "export_failed": (True, True),
    "connector_alert": (True, True),
    "drift_detected": (True, True),
    "webhook_deactivated": (True, True),
    "api_key_creator_left": (True, True),
    "invitation": (True, True),
    "plan_limit": (True, True),
}
"""Maps each kind to its default channels: (in the application, by email).

Assignments are too frequent to send an email for each assignment.
"""


def fill_defaults(chosen: Mapping[str, Mapping[str, Any]]) -> dict[str, dict[str, bool]]:
    """Return the channels of every kind, with the defaults filled in: {kind: {in_app, email}}."""
    return {
        kind: {
            "in_app": bool(chosen.get(kind, {}).get("in_app", in_app)),
            "email": bool(chosen.get(kind, {}).get("email", email)),
        }
        for kind, (in_app, email) in DEFAULT_CHANNELS.items()
    }


def merge(
    chosen: Mapping[str, Mapping[str, Any]], changes: Mapping[str, Mapping[str, bool]]
) -> dict[str, dict[str, bool]]:
    """Return the choices after applying `changes`; choices equal to the default are left out."""
    merged: dict[str, dict[str, bool]] = {}
    for kind, defaults in DEFAULT_CHANNELS.items():
        channels = {**chosen.get(kind, {}), **changes.get(kind, {})}
        differing = {
            channel: channels[channel]
            for channel, default in zip(("in_app", "email"), defaults, strict=True)
            if channels.get(channel, default) != default
        }
        if differing:
            merged[kind] = differing
    return merged


def get_channels(chosen: Mapping[str, Mapping[str, Any]], kind: str) -> tuple[bool, bool]:
    """Return whether a notification of `kind` is shown in the application and sent by email."""
    enabled = fill_defaults(chosen)[kind]
    return enabled["in_app"], enabled["email"]
