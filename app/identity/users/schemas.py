"""Request and response schemas for user profiles and notification preferences."""

from app.identity.users.preferences import DEFAULT_CHANNELS
from app.kit.api.fields import Bool, Int, Name, Nested, Response, Schema, Str, UtcDateTime, Uuid


class UserSummary(Response):
    """A user's id, email address and name."""

    id = Uuid()
    email = Str()
    name = Str()


class NotificationChannels(Response):
    """Whether notifications of one type are shown in the application and sent by email."""

    in_app = Bool()
    email = Bool()


NotificationPreferences = type(
    "NotificationPreferences",
    (Schema,),
    {
        "__doc__": "The channels for each notification type.",
        **{name: Nested(NotificationChannels, required=True) for name in DEFAULT_CHANNELS},
    },
)


class ChannelChoice(Schema):
    """Changes to the channels for one notification type."""

    in_app = Bool(description="Show notifications of this type in the application.")
    email = Bool(description="Send notifications of this type by email.")


UpdateNotificationPreferences = type(
    "UpdateNotificationPreferences",
    (Schema,),
    {
        "__doc__": "Changes to the channels for each notification type.",
        **{name: Nested(ChannelChoice) for name in DEFAULT_CHANNELS},
        "revision": Int(description="The revision of the profile."),
    },
)


class Profile(Response):
    """The caller's profile, including the notification preferences."""

    id = Uuid()
    email = Str()
    email_verified = Bool()
    name = Str()
    locale = Str()
    time_zone = Str()
    notification_preferences = Nested(NotificationPreferences)
    created_at = UtcDateTime()
    updated_at = UtcDateTime()
    revision = Int()


class ProfileUpdate(Schema):
    """Request body to update the caller's profile."""

    name = Name()
    locale = Str(max_length=35, description="A language tag (BCP 47), such as `de-AT`.")
    time_zone = Str(max_length=64, description="An IANA time zone, such as `Europe/Vienna`.")
    revision = Int()
