"""One message to many users at once, each in their language, each once."""

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
"""Emitted for each notification whose e-mail goes at once; data: {notification_id}."""


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
    """Tell members of the bound organization, in the running transaction; how many were told.

    They are those among `user_ids`, those in one of `team_ids`, and all with exactly `role`, as far
    as their role is at least `least`, less `but`. A user is told once per `unique_key`, and not at
    all where they want to hear of `kind` neither in the application nor by e-mail. `message` is one
    of messages/en.toml, `values` and `count` what it shows; `link` is the path of
    an operation, with its query.
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
    """Queue a notification's e-mail in the user's language, unless nobody is to get it."""
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
    """Return a notification as an email. `values`: organization, title, body.

    `link` is what the notification stores, an operation's path: the email leads to its page.
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
