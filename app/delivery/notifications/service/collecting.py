"""Collect many events of one sort into one open notification per user, which counts them.

A notification is open for `NOTIFICATION_WINDOW_SECONDS`, or until it is read. When it is closed,
its email is sent unless it was read (`mailing`). The next event opens another notification.
"""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import datetime
from functools import cache
from typing import Any
from uuid import UUID

from app.delivery.notifications.queries import collecting as queries
from app.delivery.notifications.queries.collecting import Audience, Entry, Open, Reached
from app.delivery.notifications.service import telling
from app.identity.users import preferences
from app.kit import container
from app.kit.emails import Message
from app.kit.ids import uuid7
from app.kit.permissions import Role

_API = "/api/v1"
NAMED = 3
"""The maximum number of documents that a notification names."""


@dataclass(frozen=True, slots=True)
class Sort:
    """A sort of news that are counted together.

    `one` is the message for a single event whose document's name is known; `link` leads to the list
    of several.
    """

    kind: str
    link: str
    one: str | None = None


SORTS: Mapping[str, Sort] = {
    "documents_assigned": Sort("assignment", "users/me/assignments", "document_assigned"),
    "documents_handed": Sort("assignment", "users/me/assignments", "handed_on"),
    "reviews_assigned": Sort("assignment", "users/me/assignments?kind=review", "review_assigned"),
    "reviews_escalated": Sort("assignment", "users/me/assignments?kind=review", "review_escalated"),
    "escalations_returned": Sort(
        "assignment", "review-queue?escalated=true", "escalation_returned"
    ),
    "label_sets_sent_back": Sort("review_rejected", "users/me/assignments?kind=label", "sent_back"),
    "label_sets_reopened": Sort("review_rejected", "users/me/assignments?kind=label", "reopened"),
    "label_sets_rejected": Sort(
        "review_rejected", "tag-sets?status=rejected&labeler_id={user_id}", "rejected"
    ),
}
"""The sorts by the name of their message for several events."""


@dataclass(frozen=True, slots=True)
class News:
    """Something that happened to `count` documents or tag sets, and whom to notify of it.

    `sort` is a key of SORTS; `link` leads to the item if there is only one. `documents` holds the
    names of the first documents, as far as they are known. `by`, `due_at` (ISO 8601) and `reason`
    are shown only if they are the same for everything that is counted together.
    """

    sort: str
    link: str | None = None
    count: int = 1
    documents: Sequence[str] = ()
    by: str | None = None
    due_at: str | None = None
    reason: str | None = None
    user_ids: Sequence[UUID] = ()
    team_ids: Sequence[UUID] = ()
    everybody: bool = False
    least: Role = Role.viewer
    but: UUID | None = None

    @property
    def audience(self) -> Audience:
        """The members to notify."""
        return Audience(self.user_ids, self.team_ids, self.everybody, self.least, self.but)


@dataclass(frozen=True, slots=True)
class Sum:
    """News of one sort, counted together; values that differ between them are None."""

    count: int
    documents: tuple[str, ...]
    link: str | None
    by: str | None
    due_at: str | None
    reason: str | None

    @classmethod
    def of(cls, news: News) -> "Sum":
        """Return the sum of a single item of news."""
        named = tuple(dict.fromkeys(news.documents))
        return cls(news.count, named[:NAMED], news.link, news.by, news.due_at, news.reason)

    @classmethod
    def stored(cls, found: Open) -> "Sum":
        """Return the sum that an open notification stores."""
        documents = tuple(found.gathered["documents"])
        return cls(found.total, **{**found.gathered, "documents": documents})

    def __add__(self, other: "Sum") -> "Sum":
        return Sum(
            count=self.count + other.count,
            documents=tuple(dict.fromkeys(self.documents + other.documents))[:NAMED],
            link=None,
            by=self.by if self.by == other.by else None,
            due_at=self.due_at if self.due_at == other.due_at else None,
            reason=self.reason if self.reason == other.reason else None,
        )

    @property
    def gathered(self) -> dict[str, Any]:
        """The values that are stored in addition to the count."""
        return {name: value for name, value in asdict(self).items() if name != "count"}


def collect(found: Sequence[News]) -> None:
    """Create notifications in the running transaction, or add to those that are open.

    Everything for one user is counted together by its sort. The number of statements does not
    depend on the number of news or users. The caller must hold `queries.lock`.
    """
    people = queries.reached([news.audience for news in found]) if found else []
    if not people:
        return

    @cache
    def summed(numbers: tuple[int, ...]) -> dict[str, Sum]:
        # Cached, because the members of a team get the same news.
        by_sort: dict[str, Sum] = {}
        for news in (found[number] for number in numbers):
            one = Sum.of(news)
            by_sort[news.sort] = by_sort[news.sort] + one if news.sort in by_sort else one
        return by_sort

    worded = cache(_worded)
    opened = queries.still_open({one.id for one in people}, {news.sort for news in found})
    entries = []
    for person in people:
        for sort, total in summed(tuple(person.numbers)).items():
            before = opened.get((person.id, sort))
            whole = total if before is None else Sum.stored(before) + total
            text = worded(sort, whole, person.locale, person.time_zone)
            entries.append(_entry(person, sort, whole, text, before))
    wanted = [one for one in entries if one.in_app or one.by_mail]
    queries.write(wanted, window=container.settings().notification_window_seconds)


def _entry(person: Reached, sort: str, whole: Sum, text: Message, before: Open | None) -> Entry:
    kind = SORTS[sort].kind
    in_app, by_mail = preferences.get_channels(person.chosen, kind)
    return Entry(
        id=uuid7() if before is None else before.id,
        user_id=person.id,
        message=sort,
        kind=kind,
        total=whole.count,
        gathered=whole.gathered,
        title=text.title,
        body=text.body,
        link=_link(sort, whole, person.id),
        in_app=in_app,
        by_mail=by_mail,
    )


def _worded(sort: str, whole: Sum, locale: str, time_zone: str) -> Message:
    single = SORTS[sort].one if whole.count == 1 and whole.documents else None
    more = ["…"] if whole.count > len(whole.documents) else []
    values = {
        "document": whole.documents[0] if whole.documents else None,
        "documents": ", ".join([*whole.documents, *more]) if whole.documents else None,
        "by": whole.by,
        "due_at": datetime.fromisoformat(whole.due_at) if whole.due_at else None,
        "reason": whole.reason,
    }
    return telling.messages.render(
        single or sort,
        locale=locale,
        time_zone=time_zone,
        values=values,
        count=None if single else whole.count,
    )


def _link(sort: str, whole: Sum, user_id: UUID) -> str:
    if whole.count == 1 and whole.link is not None:
        return whole.link
    return f"{_API}/{SORTS[sort].link.format(user_id=user_id)}"
