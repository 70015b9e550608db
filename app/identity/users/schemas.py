"""Bodies and answers of users."""

from app.identity.users.preferences import KINDS
from app.kit.api.fields import Bool, Int, Name, Nested, Schema, Str, UtcDateTime, Uuid


class Channels(Schema):
    """Where a kind of notification goes."""

    in_app = Bool(required=True)
    email = Bool(required=True)


NotificationPreferences = type(
    "NotificationPreferences",
    (Schema,),
    {
        "__doc__": "By kind of notification.",
        **{kind: Nested(Channels, required=True) for kind in KINDS},
    },
)


class Profile(Schema):
    """A person's own profile."""

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
    """What of a profile is to change."""

    name = Name()
    locale = Str(max_length=35, metadata={"description": "A language tag, such as `de-AT`."})
    time_zone = Str(max_length=64, metadata={"description": "An IANA name: `Europe/Vienna`."})
    revision = Int()
