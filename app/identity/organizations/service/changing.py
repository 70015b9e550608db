"""Service that updates, closes and reopens organizations."""

from datetime import timedelta
from typing import Any
from uuid import UUID

from app.identity.organizations import queries
from app.identity.organizations.models import Organization
from app.identity.organizations.service import reading
from app.identity.organizations.service import settings as rules
from app.kit import container, db, errors, events
from app.kit.principal import Caller

MIN_GRACE_PERIOD = timedelta(hours=1)
"""Minimum grace period: requests and jobs that run at the closing end before erasing begins."""


def lock(organization_id: UUID) -> Organization:
    """Return the organization, locked until the transaction ends.

    Every change of the organization or of its members takes this lock.
    """
    return queries.lock(organization_id)


def update(
    caller: Caller,
    *,
    revision: int | None,
    name: str | None = None,
    settings: dict[str, Any] | None = None,
) -> dict[str, Any]:
    """Update the name and the settings; settings that are left out keep their values.

    Raises 409 `stale_precondition`, and 400 `validation_error` on an invalid setting.
    """
    assert caller.role is not None
    if settings:
        rules.check_address(settings)
    record = queries.lock(caller.org.id)
    if revision not in (None, record.revision):
        raise errors.stale(record.revision)
    if name is not None:
        record.name = name
    if settings:
        record.settings, record.ai_provider_key = rules.merge(
            record.settings, record.ai_provider_key, settings
        )
    db.session().flush()
    return reading.render(record, role=caller.role)


def close(caller: Caller, *, slug: str) -> dict[str, Any]:
    """Close the organization: access ends at once, and a worker erases it after the grace period.

    Emits `organization.closed`. Raises 400 if `slug` is not the organization's, and 409 if it is
    already closed.
    """
    assert caller.role is not None
    if slug != caller.org.slug:
        raise errors.invalid("Must be the slug of the organization to close.", "slug")
    record = queries.lock(caller.org.id)
    close_record(record)
    return reading.render(record, role=caller.role)


def close_record(record: Organization) -> None:
    """Close a locked organization, which must be the bound one.

    Emits `organization.closed`. Raises 409 if it is already closed.
    """
    if record.closed_at is not None:
        raise errors.conflict("The organization is already closed.", state=record.status)
    record.status = "closed"
    record.closed_at = db.utc_now()
    grace = timedelta(days=container.settings().erase_after_days)
    record.erase_after = record.closed_at + max(grace, MIN_GRACE_PERIOD)
    events.emit(
        "organization.closed",
        {"organization_id": record.id, "erase_after": record.erase_after},
    )


def reopen_record(record: Organization) -> None:
    """Reopen a locked organization, which must be the bound one.

    Emits `organization.reopened`. Raises 409 if it is not closed, or if erasing has begun.
    """
    if record.status != "closed" or record.erasure is not None:
        state = record.status if record.erasure is None else "erased"
        raise errors.conflict("Only a closed organization can be reopened.", state=state)
    record.status = "active" if record.suspended_at is None else "suspended"
    record.closed_at = record.erase_after = None
    events.emit("organization.reopened", {"organization_id": record.id})
