"""Service functions to read, mark and delete a person's notifications in all organizations.

A session that is limited to one organization sees only the notifications of that organization,
because the organization's identity provider must not learn about other organizations.
"""

from typing import Unpack
from uuid import UUID

from app.delivery.notifications.queries import changing, listing, newest
from app.delivery.notifications.queries.listing import (
    NotificationFilters,
    NotificationRow,
    NotificationScope,
)
from app.kit import db, errors, tenancy
from app.kit.pagination import Page, PageRequest
from app.kit.principal import Caller

_REASON = "a person's notifications span organizations"


def list_notifications(
    caller: Caller,
    page: PageRequest,
    *,
    kind: str | None = None,
    **filters: Unpack[NotificationFilters],
) -> Page:
    """Return a page of the caller's notifications, newest first by default.

    Raises 422 if the cursor is invalid.
    """
    is_first = page.cursor is None and page.sort == newest.SORT and set(filters) <= {"unread"}
    with tenancy.across_organizations(reason=_REASON):
        scope = _build_scope(caller, kind)
        if is_first and kind is None:
            return newest.list_newest(page, scope, unread=filters.get("unread"))
        return listing.list_notifications(page, scope, filters)


def count_unread(caller: Caller) -> dict[str, int]:
    """Return the number of the caller's unread notifications: {"unread": number}."""
    with tenancy.across_organizations(reason=_REASON):
        return {"unread": newest.count_unread(_build_scope(caller))}


def set_read(
    caller: Caller, notification_id: UUID, *, read: bool, seen_count: int | None = None
) -> NotificationRow:
    """Mark a notification as read or unread, and return it. Raises 404 if it does not exist.

    If `seen_count` is set, a notification with more than `seen_count` events is not marked as read.
    """
    with tenancy.across_organizations(reason=_REASON):
        scope = _build_scope(caller)
        row = changing.set_read(notification_id, scope, read=read, seen_count=seen_count)
    return errors.require_found(row)


def mark_all_as_read(caller: Caller) -> dict[str, int]:
    """Mark all of the caller's notifications as read, and return their number as `read`.

    Each batch is marked in a separate transaction, so no lock is held for long. The newest
    notifications are marked first, so notifications that are created in the meantime stay unread.
    """
    marked_count = 0
    with tenancy.across_organizations(reason=_REASON):
        scope = _build_scope(caller)
        for organization_id in scope.organization_ids:
            position, count = changing.mark_batch_as_read(scope, organization_id, None)
            while position is not None:
                db.checkpoint()
                marked_count += count
                position, count = changing.mark_batch_as_read(scope, organization_id, position)
    return {"read": marked_count}


def delete(caller: Caller, notification_id: UUID, *, seen_count: int | None = None) -> None:
    """Delete a notification; its email is no longer sent.

    Raises 404 if the notification does not exist. If `seen_count` is not None and the notification
    has more than `seen_count` events, raises 409 `stale_precondition` with the number of events as
    `details.count`.
    """
    with tenancy.across_organizations(reason=_REASON):
        scope = _build_scope(caller)
        if changing.delete_notification(notification_id, scope, seen_count=seen_count):
            return
        count = errors.require_found(changing.get_event_count(notification_id, scope))
    message = "The notification has more events now. To delete it, send the current `count`."
    raise errors.ApiError("stale_precondition", message, details={"count": count})


def _build_scope(caller: Caller, kind: str | None = None) -> NotificationScope:
    organizations = listing.list_organizations(
        caller.user_id, organization_id=caller.only_organization_id
    )
    organization_by_id = {organization.id: organization for organization in organizations}
    return NotificationScope(caller.user_id, organization_by_id, kind)
