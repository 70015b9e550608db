"""Notifications that are created immediately, each about a single event."""

from collections.abc import Mapping, Sequence
from functools import cache, partial
from pathlib import Path
from uuid import UUID

from app.delivery.notifications import emitted_events
from app.delivery.notifications.queries import records
from app.delivery.notifications.queries.collecting import Audience, list_members
from app.delivery.notifications.queries.records import NewNotification
from app.identity.users import preferences
from app.kit import events
from app.kit.emails import MessageTemplates
from app.kit.emails.messages import Value
from app.kit.permissions import Role

messages = MessageTemplates(Path(__file__).parents[1] / "messages")


def notify(
    message_name: str,
    *,
    kind: str,
    values: Mapping[str, Value],
    count: int | None = None,
    link: str | None = None,
    unique_key: str | None = None,
    user_ids: Sequence[UUID] = (),
    role: Role | None = None,
    except_user_id: UUID | None = None,
) -> int:
    """Notify members of the current organization, and return how many were notified.

    Recipients are the members among `user_ids` or, if `role` is set, all members with this role or
    a higher role; `except_user_id` is never notified. A user is notified once per `unique_key`, and
    not at all if their preferences exclude `kind` both in the application and by email. The message
    `message_name` of messages/en.toml shows `values` and `count`. `link` is the path and query of
    an API operation. Emits `notification.created` for each email to send.
    """
    render = cache(partial(messages.render, message_name, values=values, count=count))
    notifications, email_user_ids = [], set()
    audience = Audience(
        user_ids=user_ids,
        everybody=role is not None,
        min_role=role or Role.viewer,
        except_user_id=except_user_id,
    )
    for user in list_members([audience]):
        in_app, email = preferences.get_channels(user.preferences, kind)
        if in_app or email:
            text = render(locale=user.locale, time_zone=user.time_zone)
            notifications.append(NewNotification(user.id, text.title, text.body, in_app))
            email_user_ids |= {user.id} if email else set()
    ids = records.insert_notifications(notifications, kind=kind, link=link, unique_key=unique_key)
    payloads: list[emitted_events.CreatedPayload] = [
        {"notification_id": ids[user_id]} for user_id in ids if user_id in email_user_ids
    ]
    events.emit_many(emitted_events.CREATED, payloads)
    return len(ids)
