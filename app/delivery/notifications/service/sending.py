"""Notify users of one event at once, and queue the emails of all notifications."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache, partial
from itertools import groupby
from pathlib import Path
from uuid import UUID

from app.delivery.notifications.queries import records
from app.delivery.notifications.queries.collecting import Audience, list_members
from app.delivery.notifications.queries.records import (
    ClosedNotification,
    EmailData,
    NewNotification,
)
from app.identity.users import preferences
from app.kit import events, tenancy
from app.kit.emails import Email, Emails, Messages
from app.kit.emails.messages import Value
from app.kit.links import build_open_link, make_absolute
from app.kit.permissions import Role

_FOLDER = Path(__file__).parents[1]
emails = Emails(_FOLDER / "letters", queue="bulk_mail")
messages = Messages(_FOLDER / "messages")

_MAX_QUOTED = 20
"""The maximum number of notifications that an email quotes."""
NOTIFICATION_CREATED = "notification.created"
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
    role: Role | None = None,
    except_user_id: UUID | None = None,
) -> int:
    """Notify members of the bound organization and return how many were notified.

    Runs in the caller's transaction. Recipients are the members among `user_ids`, or, if `role` is
    set, all members with this role or a higher one, without `except_user_id`. A user is notified
    once per `unique_key`, and not at all if their preferences exclude `kind` both in the
    application and by email. `message` is a key of messages/en.toml, which shows `values` and
    `count`; `link` is the path of an operation, with its query.
    """
    render = cache(partial(messages.render, message, values=values, count=count))
    new, by_email = [], set()
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
            new.append(NewNotification(user.id, text.title, text.body, in_app))
            by_email |= {user.id} if email else set()
    ids = records.insert_notifications(new, kind=kind, link=link, unique_key=unique_key)
    payloads = [{"notification_id": ids[user_id]} for user_id in ids if user_id in by_email]
    events.emit_many(NOTIFICATION_CREATED, payloads)
    return len(ids)


def enqueue_email(notification_id: UUID) -> None:
    """Queue the email of a notification, unless the notification is gone or its user disabled."""
    data = records.get_email_data(notification_id)
    if data is None:
        return
    emails.enqueue_many([build_email(notification_id, tenancy.current_organization_id(), data)])


def build_email(notification_id: UUID, organization_id: UUID, data: EmailData) -> Email:
    """Return the email of a notification, which links to the page of `data.link`."""
    page = None
    if data.link:
        page = build_open_link(data.link, org_slug=data.slug, language=data.locale)
    return Email(
        name="notification",
        to=data.address,
        locale=data.locale,
        values={
            "organization": data.organization,
            "title": data.title,
            "body": data.body or data.title,
            "link": page,
        },
        organization_id=organization_id,
        message_id=f"notification-{notification_id}",
    )


def enqueue_due_emails(checkpoint: Callable[[], None]) -> None:
    """Close notifications whose window has ended, in every organization, and queue their emails.

    Closing and queueing are one transaction, so no email is lost or queued twice. `checkpoint`
    commits after each batch.
    """
    while closed := records.close_due():
        emails.enqueue_many(list(_build_emails(closed)))
        checkpoint()


def _build_emails(closed: Sequence[ClosedNotification]) -> Iterable[Email]:
    for _, group in groupby(
        closed, key=lambda note: (note.organization_id, note.user_id, note.kind)
    ):
        due = [note for note in group if _is_email_due(note)]
        if due:
            yield _build_email(due)


def _is_email_due(note: ClosedNotification) -> bool:
    return note.mailed and preferences.get_channels(note.preferences, note.kind)[1]


def _build_email(notes: Sequence[ClosedNotification]) -> Email:
    first = notes[0]
    title, body, link = first.title, first.body, first.link
    if len(notes) > 1:
        title = _render_title(first, len(notes) - 1)
        body, link = "\n\n".join(map(_build_quote, notes[:_MAX_QUOTED])), None
    data = EmailData(first.email, first.locale, title, body, link, first.organization, first.slug)
    return build_email(first.id, first.organization_id, data)


def _render_title(first: ClosedNotification, more: int) -> str:
    values = {"title": first.title}
    return messages.render(
        "and_more", locale=first.locale, time_zone=first.time_zone, values=values, count=more
    ).title


def _build_quote(note: ClosedNotification) -> str:
    # Each notification has its own link, so the email shows them as text instead of a button.
    page = ""
    if note.link:
        link = build_open_link(note.link, org_slug=note.slug, language=note.locale)
        page = make_absolute(link)
    lines = (note.title, note.body, page)
    return "\n".join(line for line in lines if line)
