"""Request and response schemas of users."""

from app.identity.users.preferences import DEFAULT_CHANNELS
from app.kit.api.fields import Bool, Int, Name, Nested, Schema, Str, UtcDateTime, Uuid


class UserSummary(Schema):
    """The id, email address and name of a user."""

    id = Uuid(required=True)
    email = Str(required=True)
    name = Str(required=True)


class NotificationChannels(Schema):
    """The channels of one kind of notification."""

    in_app = Bool(required=True)
    email = Bool(required=True)


NotificationPreferences = type(
    "NotificationPreferences",
    (Schema,),
    {
        "__doc__": "The channels of each kind of notification.",
        **{kind: Nested(NotificationChannels, required=True) for kind in DEFAULT_CHANNELS},
    },
)


class Profile(Schema):
    """The caller's profile."""

    id = Uuid(required=True)
    email = Str(required=True)
    email_verified = Bool(required=True)
    name = Str(required=True)
    locale = Str(required=True)
    time_zone = Str(required=True)
    notification_preferences = Nested(NotificationPreferences, required=True)
    created_at = UtcDateTime(required=True)
    updated_at = UtcDateTime(required=True)
    revision = Int(required=True)


class ProfileUpdate(Schema):
    """Request body to update the caller's profile."""

    name = Name()
    locale = Str(
        max_length=35, metadata={"description": "A language tag (BCP 47), such as `de-AT`."}
    )
    time_zone = Str(
        max_length=64, metadata={"description": "An IANA time zone, such as `Europe/Vienna`."}
    )
    revision = Int()
