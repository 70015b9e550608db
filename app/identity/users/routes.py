"""API routes for the caller's own profile."""

from typing import Any

from app.identity.users import service
from app.identity.users.schemas import (
    NotificationPreferences,
    Profile,
    ProfileUpdate,
    UpdateNotificationPreferences,
)
from app.kit.api.blueprint import Blueprint
from app.kit.principal import Caller

blueprint = Blueprint("users", description="The caller's own account.", record_type="users")


@blueprint.get("/users/me", access="user", returns=Profile)
def get_me(caller: Caller) -> object:
    """Get the caller's profile.

    Returns the profile with the notification preferences.
    """
    return service.get_profile(caller.user_id)


@blueprint.patch(
    "/users/me", access="user", body=ProfileUpdate, returns=Profile, revision="optional"
)
def update_me(caller: Caller, body: dict[str, Any], revision: int | None) -> object:
    """Update the caller's profile.

    Changes the name, locale or time zone. Responds with 403 `permission_denied` to a session that
    is limited to one organization if the user is a member of other organizations, too.
    """
    return service.update_profile(caller, changes=body, revision=revision)


@blueprint.patch(
    "/users/me/notification-preferences",
    access="user",
    body=UpdateNotificationPreferences,
    returns=NotificationPreferences,
    revision="optional",
)
def update_notification_preferences(
    caller: Caller, body: dict[str, Any], revision: int | None
) -> dict[str, dict[str, bool]]:
    """Update notification preferences.

    Sets, for each notification type in the request, whether notifications of that type are shown in
    the application and sent by email. Types that are not in the request do not change. Returns the
    preferences for all types. The preferences are part of the profile and change its revision.
    Responds with 403 `permission_denied` to a session that is limited to one organization if the
    user is a member of other organizations, too.
    """
    return service.update_own_preferences(caller, changes=body, revision=revision)
