"""Notify many users of one event at once, each in their language and only once."""

from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from uuid import UUID

from app.delivery.notifications.queries import telling as queries
from app.identity.users import preferences
from app.kit import events, tenancy
from app.kit.emails import Email, Emails, Message, Messages
from app.kit.emails.messages import Value
from app.kit.links import build_open_link
from app.kit.permissions import Role

_FOLDER = Path(__file__).parents[1]
letters = Emails(_FOLDER / "letters", queue="bulk_mail")
messages = Messages(_FOLDER / "messages")

CREATED = "notification.created"
"""Emitted for each notification whose email is sent at once; data: {notification_id}."""


def tell(
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
    least: Role = Role.viewer,
    but: UUID | None = None,
) -> int:
    """Notify members of the bound organization and return how many were notified.

    Runs in the caller's transaction. Recipients are the members among `user_ids`, in one of
    `team_ids`, or with exactly `role`; their role must be at least `least`, and `but` is excluded.
    A user is notified once per `unique_key`, and not at all if their preferences exclude `kind`
    both in the application and by email. `message` is a key of messages/en.toml, which shows
    `values` and `count`; `link` is the path of an operation, with its query.
    """

    @cache
    def worded(locale: str, time_zone: str) -> Message:
        return messages.render(
            message, locale=locale, time_zone=time_zone, values=values, count=count
        )

    notes, by_mail = [], set()
    for user in queries.recipients(user_ids, team_ids, role=role, least=least, but=but):
        in_app, email = preferences.get_channels(user.chosen, kind)
        if in_app or email:
            text = worded(user.locale, user.time_zone)
            notes.append(queries.Note(user.id, text.title, text.body, in_app))
            by_mail |= {user.id} if email else set()
    told = queries.add(notes, kind=kind, link=link, unique_key=unique_key) if notes else {}
    mailed = [{"notification_id": told[user_id]} for user_id in told if user_id in by_mail]
    events.emit_many(CREATED, mailed)
    return len(told)


def post_mail(notification_id: UUID) -> None:
    """Queue the email of a notification, unless the notification is gone or its user disabled."""
    found = queries.mail_of(notification_id)
    if found is None:
        return
    letters.enqueue_many(
        [
            letter(
                notification_id,
                tenancy.current_organization_id(),
                address=found.address,
                locale=found.locale,
                organization=found.organization,
                slug=found.slug,
                title=found.title,
                body=found.body or found.title,
                link=found.link,
            )
        ]
    )


def letter(
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
