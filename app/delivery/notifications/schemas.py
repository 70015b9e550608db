"""Request and response schemas for notifications."""

import re

from marshmallow import ValidationError

from app.delivery.notifications.models import EmailFrequency
from app.identity.users.preferences import DEFAULT_CHANNELS
from app.kit.api.fields import (
    Bool,
    Int,
    Nested,
    OneOf,
    QueryBool,
    QueryInt,
    Response,
    Schema,
    Str,
    UtcDateTime,
    Uuid,
)

_KINDS = list(DEFAULT_CHANNELS)
_FREQUENCIES = [frequency.value for frequency in EmailFrequency]
_CLOCK_TIME_PATTERN = "([01][0-9]|2[0-3]):[0-5][0-9]"


class NotificationFilters(Schema):
    """Filters for the list of notifications."""

    kind = Str(validate=OneOf(_KINDS))
    unread = QueryBool(description="True for unread notifications, false for read notifications.")


class NotificationOrganization(Response):
    """The organization that a notification belongs to."""

    id = Uuid()
    slug = Str()
    name = Str()


class Notification(Response):
    """A notification to the caller about one or more events."""

    id = Uuid()
    organization = Nested(NotificationOrganization)
    kind = Str(validate=OneOf(_KINDS))
    title = Str()
    body = Str(description="Plain text; paragraphs are separated by empty lines.")
    link = Str(
        allow_none=True,
        description="The path and query of the API operation that returns what the notification is"
        " about.",
    )
    count = Int(
        attribute="event_count",
        description="The number of events; an assignment counts once per document or tag set.",
    )
    read_at = UtcDateTime(allow_none=True)
    created_at = UtcDateTime()
    updated_at = UtcDateTime()


class UnreadCount(Response):
    """The number of unread notifications."""

    unread = Int()


class ReadCount(Response):
    """The number of notifications that were marked as read."""

    read = Int()


class ReadNotification(Schema):
    """The request body that marks a notification as read or unread."""

    read = Bool(load_default=True, description="False marks the notification as unread again.")
    count = Int(
        description=(
            "The `count` that the caller has seen. If the notification has more events now, it is"
            " not marked as read."
        )
    )


class DeletionQuery(Schema):
    """Query parameters for the deletion of a notification."""

    count = QueryInt(
        minimum=1,
        description=(
            "The `count` that the caller has seen. If the notification has more events now, it is"
            " not deleted."
        ),
    )


def _check_clock_time(value: str) -> None:
    if not re.fullmatch(_CLOCK_TIME_PATTERN, value):
        raise ValidationError("Must be a time from 00:00 to 23:59, for example 07:30.")


class ClockTime(Str):
    """A field for a local time of day in the format `HH:MM`."""

    def __init__(self, *, name: str, description: str) -> None:
        super().__init__(
            required=True,
            data_key=name,
            attribute=name,
            validate=_check_clock_time,
            metadata={"pattern": f"^{_CLOCK_TIME_PATTERN}$", "description": description},
        )


class QuietHours(Schema):
    """The hours, in local time, in which no notification emails are sent; may cross midnight."""

    from_ = ClockTime(name="from", description="The start of the quiet hours, for example 22:00.")
    to = ClockTime(name="to", description="The end of the quiet hours, for example 07:00.")


class SetDeliveryPreferences(Schema):
    """The preferences to set for notification emails."""

    email_frequency = Str(required=True, validate=OneOf(_FREQUENCIES))
    quiet_hours = Nested(
        QuietHours, allow_none=True, load_default=None, description="Null for no quiet hours."
    )
    revision = Int()


class DeliveryPreferences(Response):
    """A user's preferences for notification emails. Times are in the user's `time_zone`."""

    email_frequency = Str(validate=OneOf(_FREQUENCIES))
    quiet_hours = Nested(QuietHours, allow_none=True)
    time_zone = Str()
    revision = Int(description="The revision of the preferences; 0 if they have never been set.")
