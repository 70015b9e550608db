"""Telling users what happened: inside the application and by e-mail."""

from collections.abc import Sequence
from pathlib import Path
from uuid import UUID

from app.delivery.notifications import queries
from app.kit import events, tenancy
from app.kit.letters import Letters
from app.kit.permissions import Role

letters = Letters(Path(__file__).parent / "letters")

CREATED = "notification.created"
"""Emitted for each notification; data: {notification_id}. E-mail listens to it."""


def notify(
    *,
    kind: str,
    title: str,
    body: str = "",
    link: str | None = None,
    unique_key: str | None = None,
    user_ids: Sequence[UUID] = (),
    role: Role | None = None,
) -> int:
    """Tell members of the bound organization, in the running transaction; how many were told.

    They are those among `user_ids`, and all with exactly `role`. A user is told once per
    `unique_key`. `link` is a path under PUBLIC_URL.
    """
    users = queries.members(user_ids, [role.name] if role is not None else [])
    if not users:
        return 0
    told = queries.add(users, kind=kind, title=title, body=body, link=link, unique_key=unique_key)
    for notification_id in told:
        events.emit(CREATED, {"notification_id": str(notification_id)})
    return len(told)


def post_mail(notification_id: UUID) -> None:
    """Queue a notification's e-mail in the user's language, unless nobody is to get it."""
    found = queries.mail_of(notification_id)
    if found is None:
        return
    letters.post(
        "notification",
        to=found.address,
        locale=found.locale,
        values={
            "organization": found.organization,
            "title": found.title,
            "body": found.body or found.title,
            "link": found.link,
        },
        organization_id=tenancy.current_organization_id(),
        message_id=f"notification-{notification_id}",
    )
