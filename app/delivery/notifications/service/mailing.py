"""Queue the emails of closed notifications: one email per user and kind."""

from collections.abc import Callable, Iterable, Sequence
from itertools import groupby

from app.delivery.notifications.queries import mailing as queries
from app.delivery.notifications.queries.mailing import Closed
from app.delivery.notifications.service import sending
from app.identity.users import preferences
from app.kit.emails import Email
from app.kit.links import build_open_link, make_absolute

_LISTED = 20
"""The maximum number of notifications that an email quotes."""


def enqueue_due_emails(checkpoint: Callable[[], None]) -> None:
    """Close notifications whose window has ended, in every organization, and queue their emails.

    Closing and queueing are one transaction, so no email is lost or queued twice. `checkpoint`
    commits after each batch.
    """
    while closed := queries.close_due():
        sending.emails.enqueue_many(list(_build_emails(closed)))
        checkpoint()


def _build_emails(closed: Sequence[Closed]) -> Iterable[Email]:
    for _, group in groupby(
        closed, key=lambda note: (note.organization_id, note.user_id, note.kind)
    ):
        due = [note for note in group if _is_email_due(note)]
        if due:
            yield _build_email(due)


def _is_email_due(note: Closed) -> bool:
    return note.mailed and preferences.get_channels(note.preferences, note.kind)[1]


def _build_email(notes: Sequence[Closed]) -> Email:
    first = notes[0]
    title, body, link = first.title, first.body or first.title, first.link
    if len(notes) > 1:
        title = _render_title(first, len(notes) - 1)
        body, link = "\n\n".join(map(_quote, notes[:_LISTED])), None
    return sending.build_email(
        first.id,
        first.organization_id,
        address=first.email,
        locale=first.locale,
        organization=first.organization,
        slug=first.slug,
        title=title,
        body=body,
        link=link,
    )


def _render_title(first: Closed, more: int) -> str:
    values = {"title": first.title}
    return sending.messages.render(
        "and_more", locale=first.locale, time_zone=first.time_zone, values=values, count=more
    ).title


def _quote(note: Closed) -> str:
    # Each notification has its own link, so the email shows them as text instead of a button.
    page = ""
    if note.link:
        link = build_open_link(note.link, org_slug=note.slug, language=note.locale)
        page = make_absolute(link)
    lines = (note.title, note.body, page)
    return "\n".join(line for line in lines if line)
