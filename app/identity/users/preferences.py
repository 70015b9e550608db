"""Which notifications reach a person where: the defaults, and what they chose instead."""

from collections.abc import Mapping
from typing import Any

KINDS: Mapping[str, tuple[bool, bool]] = {
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
"""Kind → in the application, by e-mail. Work comes too often to mail each piece of it."""


def complete(chosen: Mapping[str, Mapping[str, Any]]) -> dict[str, dict[str, bool]]:
    """Every kind with its two switches: {kind: {in_app, email}}."""
    return {
        kind: {
            "in_app": bool(chosen.get(kind, {}).get("in_app", in_app)),
            "email": bool(chosen.get(kind, {}).get("email", email)),
        }
        for kind, (in_app, email) in KINDS.items()
    }


def channels(chosen: Mapping[str, Mapping[str, Any]], kind: str) -> tuple[bool, bool]:
    """Whether a notification of `kind` reaches somebody in the application, and by e-mail."""
    found = complete(chosen)[kind]
    return found["in_app"], found["email"]
