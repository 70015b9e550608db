"""Service functions for users' preferences for notification emails."""

from datetime import time
from typing import Any
from uuid import UUID

from app.delivery.notifications.models import EmailFrequency
from app.delivery.notifications.queries import preferences as queries
from app.kit import errors, tenancy


def get(user_id: UUID) -> dict[str, Any]:
    """Return the delivery preferences of a user, with defaults for missing values. Raises 404."""
    stored = queries.get(user_id)
    if stored is None:
        raise errors.not_found()
    quiet_hours = None
    if stored.quiet_from is not None and stored.quiet_to is not None:
        quiet_hours = {"from": _format(stored.quiet_from), "to": _format(stored.quiet_to)}
    return {
        "email_frequency": stored.email_frequency or EmailFrequency.IMMEDIATE.value,
        "quiet_hours": quiet_hours,
        "time_zone": stored.time_zone,
        "revision": stored.revision or 0,
    }


def replace(
    user_id: UUID,
    *,
    email_frequency: str,
    quiet_hours: dict[str, str] | None = None,
    revision: int | None,
) -> dict[str, Any]:
    """Replace the delivery preferences of a user, and return them.

    The new preferences also apply to pending emails. Raises 400 `validation_error` if the quiet
    hours end when they start, and 409 `stale_precondition`.
    """
    quiet_from = quiet_to = None
    if quiet_hours is not None:
        quiet_from = time.fromisoformat(quiet_hours["from"])
        quiet_to = time.fromisoformat(quiet_hours["to"])
        if quiet_from == quiet_to:
            raise errors.invalid("Must differ from the start.", "quiet_hours.to")
    is_written = queries.write(
        user_id,
        email_frequency=email_frequency,
        quiet_from=quiet_from,
        quiet_to=quiet_to,
        revision=revision,
    )
    if not is_written:
        raise errors.stale(get(user_id)["revision"])
    with tenancy.across_organizations(reason="a person's notifications span organizations"):
        queries.make_emails_due(user_id)
    return get(user_id)


def _format(at: time) -> str:
    return at.strftime("%H:%M")
