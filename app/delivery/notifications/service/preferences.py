"""Service functions for users' preferences for notification emails."""

from datetime import time
from typing import Any
from uuid import UUID

from app.delivery.notifications.models import EmailFrequency
from app.delivery.notifications.queries import preferences as queries
from app.kit import errors, tenancy


def get(user_id: UUID) -> dict[str, Any]:
    """Return a user's delivery preferences, with defaults for values that were never set.

    Raises 404 if the user does not exist.
    """
    stored = queries.get(user_id)
    if stored is None:
        raise errors.not_found()
    quiet_hours = None
    if stored.quiet_from is not None and stored.quiet_to is not None:
        quiet_hours = {
            "from": _format_clock_time(stored.quiet_from),
            "to": _format_clock_time(stored.quiet_to),
        }
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

    The new preferences also apply to pending emails. Raises 400 `validation_error` if the start
    and end of the quiet hours are equal, and 409 `stale_precondition` if `revision` is outdated.
    """
    quiet_from = quiet_to = None
    if quiet_hours is not None:
        quiet_from = time.fromisoformat(quiet_hours["from"])
        quiet_to = time.fromisoformat(quiet_hours["to"])
        if quiet_from == quiet_to:
            message = "The end of the quiet hours must differ from their start."
            raise errors.invalid(message, "quiet_hours.to")
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


def _format_clock_time(clock_time: time) -> str:
    return clock_time.strftime("%H:%M")
