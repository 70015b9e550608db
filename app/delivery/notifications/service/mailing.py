"""Queue the emails of closed notifications: one email per user and kind."""

from collections.abc import Callable, Iterable, Sequence
from itertools import groupby

from app.delivery.notifications.queries import mailing as queries
from app.delivery.notifications.queries.mailing import Closed
from app.delivery.notifications.service import telling
from app.identity.users import preferences
from app.kit.emails import Email
from app.kit.links import build_open_link, make_absolute

_LISTED = 20
"""The maximum number of notifications that an email quotes."""


def post_due(checkpoint: Callable[[], None]) -> None:
    """Close notifications whose window has ended, in every organization, and queue their emails.

    Closing and queueing are one transaction, so no email is lost or queued twice. `checkpoint`
    commits after each batch.
    """
    while closed := queries.close_due():
        telling.letters.enqueue_many(list(_letters(closed)))
        checkpoint()


def _letters(closed: Sequence[Closed]) -> Iterable[Email]:
    for _, same in groupby(closed, key=lambda one: (one.organization_id, one.user_id, one.kind)):
        wanted = [one for one in same if _is_wanted(one)]
        if wanted:
            yield _letter(wanted)


def _is_wanted(one: Closed) -> bool:
    return one.mailed and preferences.get_channels(one.chosen, one.kind)[1]


def _letter(notes: Sequence[Closed]) -> Email:
    first = notes[0]
    title, body, link = first.title, first.body or first.title, first.link
    if len(notes) > 1:
        title = _title(first, len(notes) - 1)
        body, link = "\n\n".join(map(_quoted, notes[:_LISTED])), None
    return telling.letter(
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


def _title(first: Closed, more: int) -> str:
    values = {"title": first.title}
    return telling.messages.render(
        "and_more", locale=first.locale, time_zone=first.time_zone, values=values, count=more
    ).title


def _quoted(one: Closed) -> str:
    # Each notification has its own link, so the email shows them as text instead of a button.
    page = ""
    if one.link:
        link = build_open_link(one.link, org_slug=one.slug, language=one.locale)
        page = make_absolute(link)
    lines = (one.title, one.body, page)
    return "\n".join(line for line in lines if line)
