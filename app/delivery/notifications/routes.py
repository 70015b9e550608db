"""Routes for the caller's notifications and email delivery preferences."""

from typing import Any
from uuid import UUID

from app.delivery.notifications.schemas import (
    DeletionQuery,
    DeliveryPreferences,
    Notification,
    NotificationFilters,
    ReadCount,
    ReadNotification,
    SetDeliveryPreferences,
    UnreadCount,
)
from app.delivery.notifications.service import preferences, reading
from app.kit.api.blueprint import Blueprint, Listing
from app.kit.pagination import Page
from app.kit.principal import Caller

blueprint = Blueprint("notifications", description="The caller's notifications.")


@blueprint.get(
    "/notifications",
    access="user",
    query=Listing(filters=NotificationFilters, has_period=True),
    returns=Notification,
)
def list_notifications(caller: Caller, query: dict[str, Any]) -> Page:
    """List notifications.

    Returns the caller's notifications in all of their organizations. A session that is limited to
    one organization sees only notifications of that organization. Notifications that are only sent
    by email are not listed.
    """
    return reading.list_notifications(caller, **query)


@blueprint.get("/notifications/unread-count", access="user", returns=UnreadCount)
def get_unread_count(caller: Caller) -> dict[str, int]:
    """Get the number of unread notifications.

    Counts the unread notifications that `GET /notifications` returns.
    """
    return reading.count_unread(caller)


@blueprint.post("/notifications/read-all", access="user", returns=ReadCount)
def read_all_notifications(caller: Caller) -> dict[str, int]:
    """Mark all notifications as read.

    Marks the notifications that `GET /notifications` returns. A notification stays unread if it is
    created, or if an event is added to it, while this request runs. The emails for marked
    notifications are no longer sent.
    """
    return reading.mark_all_as_read(caller)


@blueprint.post(
    "/notifications/{notification_id}/read",
    access="user",
    body=ReadNotification,
    body_optional=True,
    returns=Notification,
)
def read_notification(caller: Caller, notification_id: UUID, body: dict[str, Any]) -> object:
    """Mark a notification as read.

    Marks the notification as unread again if `read` is false. The body is optional. No further
    events are added to a read notification, and its email is no longer sent. Send `count` so that
    events that were added in the meantime do not count as read.
    """
    return reading.set_read(
        caller, notification_id, read=body["read"], seen_count=body.get("count")
    )


@blueprint.delete("/notifications/{notification_id}", access="user", query=DeletionQuery)
def delete_notification(caller: Caller, notification_id: UUID, query: dict[str, Any]) -> None:
    """Delete a notification.

    The email for the notification is no longer sent. Send `count` so that events that the caller
    has not seen are not lost: if events were added in the meantime, the response is 409
    `stale_precondition`, and `details.count` is the current number of events.
    """
    reading.delete(caller, notification_id, seen_count=query.get("count"))


@blueprint.get("/notifications/delivery-preferences", access="user", returns=DeliveryPreferences)
def get_delivery_preferences(caller: Caller) -> dict[str, Any]:
    """Get the delivery preferences.

    Returns how often the caller gets notification emails, and the caller's quiet hours.
    """
    return preferences.get(caller.user_id)


@blueprint.put(
    "/notifications/delivery-preferences",
    access="user",
    body=SetDeliveryPreferences,
    returns=DeliveryPreferences,
    revision="optional",
)
def set_delivery_preferences(
    caller: Caller, body: dict[str, Any], revision: int | None
) -> dict[str, Any]:
    """Set the delivery preferences.

    If `email_frequency` is `immediate`, emails are sent immediately, except that notifications
    about assignments and review decisions are collected for a few minutes. If it is `hourly`, one
    email per organization is sent at every full hour; if it is `daily`, at 8 o'clock. Emails that
    are due during the quiet hours are sent when the quiet hours end. All times are in the time zone
    of the caller's profile. The change also applies to pending emails. Responds with 403
    `permission_denied` to a session that is limited to one organization if the user is also a
    member of other organizations.
    """
    return preferences.replace(caller, revision=revision, **body)
