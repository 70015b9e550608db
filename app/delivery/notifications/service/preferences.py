"""Service functions for users' preferences for notification emails."""

from datetime import time
from typing import Any
from uuid import UUID

from app.delivery.notifications.models import EmailFrequency
from app.delivery.notifications.queries import preferences as queries
from app.identity.organizations import session_scope
from app.kit import errors, tenancy
from app.kit.principal import Caller


def get(user_id: UUID) -> dict[str, Any]:
    """Return a user's delivery preferences, with defaults for values that were never set.

    Raises 404 if the user does not exist.
    """
    row = errors.require_found(queries.get(user_id))
    quiet_hours = None
    if row.quiet_from is not None and row.quiet_to is not None:
        quiet_hours = {"from": f"{row.quiet_from:%H:%M}", "to": f"{row.quiet_to:%H:%M}"}
    return {
        "email_frequency": row.email_frequency or EmailFrequency.IMMEDIATE.value,
        "quiet_hours": quiet_hours,
        "time_zone": row.time_zone,
        "revision": row.revision or 0,
    }


def replace(
    caller: Caller,
    *,
    email_frequency: str,
    quiet_hours: dict[str, str] | None = None,
    revision: int | None,
) -> dict[str, Any]:
    """Replace the caller's delivery preferences, and return them.

    The new preferences also apply to pending emails. Raises 403 for a limited session if the user
    is also a member of other organizations, 400 `validation_error` if the start and end of the
    quiet hours are equal, and 409 `stale_precondition` if `revision` is outdated.
    """
    session_scope.check_account_change(caller)
    quiet_from = quiet_to = None
    if quiet_hours is not None:
        quiet_from = time.fromisoformat(quiet_hours["from"])
        quiet_to = time.fromisoformat(quiet_hours["to"])
        if quiet_from == quiet_to:
            message = "The end of the quiet hours must differ from their start."
            raise errors.invalid(message, "quiet_hours.to")
    is_written = queries.write(
        caller.user_id,
        email_frequency=email_frequency,
        quiet_from=quiet_from,
        quiet_to=quiet_to,
        revision=revision,
    )
    if not is_written:
        raise errors.stale(get(caller.user_id)["revision"])
    with tenancy.across_organizations(reason="a person's notifications span organizations"):
        queries.make_emails_due(caller.user_id)
    return get(caller.user_id)
