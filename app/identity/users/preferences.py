"""Notification preferences: default channels for each notification type, and users' choices."""

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
"""Maps each notification type to its default channels: (in the application, by email).

By default, no emails are sent about assignments, because assignments are too frequent.
"""


def fill_defaults(choices: Mapping[str, Mapping[str, Any]]) -> dict[str, dict[str, bool]]:
    """Return whether the channels `in_app` and `email` are enabled, for every notification type.

    `choices` maps notification types to channels and whether the user has enabled them. A channel
    that is not in `choices` has its default.
    """
    return {
        notification_type: {
            "in_app": bool(choices.get(notification_type, {}).get("in_app", in_app)),
            "email": bool(choices.get(notification_type, {}).get("email", email)),
        }
        for notification_type, (in_app, email) in DEFAULT_CHANNELS.items()
    }


def merge(
    choices: Mapping[str, Mapping[str, Any]], changes: Mapping[str, Mapping[str, bool]]
) -> dict[str, dict[str, bool]]:
    """Merge `changes` into `choices`, and return the choices that differ from the defaults."""
    merged: dict[str, dict[str, bool]] = {}
    for notification_type, defaults in DEFAULT_CHANNELS.items():
        channels = {**choices.get(notification_type, {}), **changes.get(notification_type, {})}
        differing_channels = {
            channel: channels[channel]
            for channel, default in zip(("in_app", "email"), defaults, strict=True)
            if channels.get(channel, default) != default
        }
        if differing_channels:
            merged[notification_type] = differing_channels
    return merged


def get_channels(
    choices: Mapping[str, Mapping[str, Any]], notification_type: str
) -> tuple[bool, bool]:
    """Return whether to show notifications of a type in the application, and whether to email them.

    `choices` are the user's stored choices.
    """
    enabled = fill_defaults(choices)[notification_type]
    return enabled["in_app"], enabled["email"]
