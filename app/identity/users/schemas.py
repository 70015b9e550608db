"""Request and response schemas of users."""

from app.identity.users.preferences import DEFAULT_CHANNELS
from app.kit.api.fields import Bool, Int, Name, Nested, Response, Schema, Str, UtcDateTime, Uuid


class UserSummary(Response):
    """The id, email address and name of a user."""

    id = Uuid()
    email = Str()
    name = Str()


class NotificationChannels(Response):
    """The channels of one kind of notification."""

    in_app = Bool()
    email = Bool()


NotificationPreferences = type(
    "NotificationPreferences",
    (Schema,),
    {
        "__doc__": "The channels of each kind of notification.",
        **{kind: Nested(NotificationChannels, required=True) for kind in DEFAULT_CHANNELS},
    },
)


class ChannelChoice(Schema):
    """Changes to the channels of one kind of notification."""

    in_app = Bool(description="Show notifications of this kind in the application.")
    email = Bool(description="Send notifications of this kind by email.")


UpdateNotificationPreferences = type(
    "UpdateNotificationPreferences",
    (Schema,),
    {
        "__doc__": "Changes to the channels of each kind of notification.",
        **{kind: Nested(ChannelChoice) for kind in DEFAULT_CHANNELS},
        "revision": Int(description="The revision of the profile."),
    },
)


class Profile(Response):
    """The caller's profile."""

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
