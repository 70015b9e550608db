"""Notify many users of one event at once, each in their language and only once."""

from collections.abc import Mapping, Sequence
from functools import cache, partial
from pathlib import Path
from uuid import UUID

from app.delivery.notifications.queries import records
from app.delivery.notifications.queries.records import NewNotification
from app.identity.users import preferences
from app.kit import events, tenancy
from app.kit.emails import Email, Emails, Messages
from app.kit.emails.messages import Value
from app.kit.links import build_open_link
from app.kit.permissions import Role

_FOLDER = Path(__file__).parents[1]
emails = Emails(_FOLDER / "letters", queue="bulk_mail")
messages = Messages(_FOLDER / "messages")

CREATED = "notification.created"
"""Emitted for each notification whose email is sent at once; data: {notification_id}."""


def notify(
    message: str,
    *,
    kind: str,
    values: Mapping[str, Value],
    count: int | None = None,
    link: str | None = None,
    unique_key: str | None = None,
    user_ids: Sequence[UUID] = (),
    team_ids: Sequence[UUID] = (),
    role: Role | None = None,
    min_role: Role = Role.viewer,
    except_user_id: UUID | None = None,
) -> int:
    """Notify members of the bound organization and return how many were notified.

    Runs in the caller's transaction. Recipients are the members among `user_ids`, in one of
    `team_ids`, or with exactly `role`; their role must be at least `min_role`, and
    `except_user_id` is excluded. A user is notified once per `unique_key`, and not at all if their
    preferences exclude `kind` both in the application and by email. `message` is a key of
    messages/en.toml, which shows `values` and `count`; `link` is the path of an operation, with its
    query.
    """
    render = cache(partial(messages.render, message, values=values, count=count))
    new, by_email = [], set()
    recipients = records.list_recipients(
        user_ids, team_ids, role=role, min_role=min_role, except_user_id=except_user_id
    )
    for user in recipients:
        in_app, email = preferences.get_channels(user.preferences, kind)
        if in_app or email:
            text = render(locale=user.locale, time_zone=user.time_zone)
            new.append(NewNotification(user.id, text.title, text.body, in_app))
            by_email |= {user.id} if email else set()
    ids = records.insert_notifications(new, kind=kind, link=link, unique_key=unique_key)
    payloads = [{"notification_id": ids[user_id]} for user_id in ids if user_id in by_email]
    events.emit_many(CREATED, payloads)
    return len(ids)


def enqueue_email(notification_id: UUID) -> None:
    """Queue the email of a notification, unless the notification is gone or its user disabled."""
    data = records.get_email_data(notification_id)
    if data is None:
        return
    emails.enqueue_many(
        [
            build_email(
                notification_id,
                tenancy.current_organization_id(),
                address=data.address,
                locale=data.locale,
                organization=data.organization,
                slug=data.slug,
                title=data.title,
                body=data.body or data.title,
                link=data.link,
            )
        ]
    )


def build_email(
    notification_id: UUID,
    organization_id: UUID,
    *,
    address: str,
    locale: str,
    slug: str,
    link: str | None,
    **values: str,
) -> Email:
    """Return the email of a notification; `values` are `organization`, `title` and `body`.

    `link` is the path of an operation, as the notification stores it; the email links to its page.
    """
    page = build_open_link(link, org_slug=slug, language=locale) if link else None
    return Email(
        name="notification",
        to=address,
        locale=locale,
        values={**values, "link": page},
        organization_id=organization_id,
        message_id=f"notification-{notification_id}",
    )
