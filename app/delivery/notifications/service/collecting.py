"""Collection of events: for each user and topic, one open notification covers many events.

A notification is open for `NOTIFICATION_WINDOW_SECONDS` (longer if its email is postponed), or
until it is read. When it is closed, `mailing` sends its email unless the notification was read. The
next event creates another open notification.
"""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import datetime
from functools import cache
from typing import Any
from uuid import UUID

from app.delivery.notifications.queries import collecting as queries
from app.delivery.notifications.queries.collecting import (
    Audience,
    AudienceMember,
    NotificationEntry,
    OpenNotification,
)
from app.delivery.notifications.service import sending
from app.identity.users import preferences
from app.kit import container
from app.kit.emails import Message
from app.kit.ids import uuid7

_API = "/api/v1"
MAX_NAMED = 3
"""The maximum number of documents that a notification names."""


@dataclass(frozen=True, slots=True)
class Topic:
    """A topic of notifications, for example documents that were assigned to a user.

    `kind` is the type of the notifications. `link` leads to a list, and is used for a notification
    without a link to a single document or tag set. `single_message_name` is the name of the message
    about a single document or tag set. It is used if the name of the document is known.
    """

    kind: str
    link: str
    single_message_name: str | None = None


TOPICS: Mapping[str, Topic] = {
    "documents_assigned": Topic("assignment", "users/me/assignments", "document_assigned"),
    "documents_handed": Topic("assignment", "users/me/assignments", "handed_on"),
    "reviews_assigned": Topic("assignment", "users/me/assignments?kind=review", "review_assigned"),
    "reviews_escalated": Topic(
        "assignment", "users/me/assignments?kind=review", "review_escalated"
    ),
    "escalations_returned": Topic(
        "assignment", "review-queue?escalated=true", "escalation_returned"
    ),
    "label_sets_sent_back": Topic(
        "review_rejected", "users/me/assignments?kind=label", "sent_back"
    ),
    "label_sets_reopened": Topic("review_rejected", "users/me/assignments?kind=label", "reopened"),
    "label_sets_rejected": Topic(
        "review_rejected", "tag-sets?status=rejected&labeler_id={user_id}", "rejected"
    ),
}
"""The topics by name. A message has the name of its topic, unless `single_message_name` is used."""


@dataclass(frozen=True, slots=True)
class Notice(Audience):
    """A notice about `count` documents or tag sets, with the audience to notify.

    `topic_name` is a key of TOPICS. `link` is only used if `count` is 1. `documents` has the known
    names of the first documents. `by` (a user's name), `due_at` (ISO 8601) and `reason` are shown
    only if they are the same for all notices that a notification covers.
    """

    topic_name: str
    link: str | None = None
    count: int = 1
    documents: Sequence[str] = ()
    by: str | None = None
    due_at: str | None = None
    reason: str | None = None


@dataclass(frozen=True, slots=True)
class NoticeSummary:
    """The combined values of one or more notices on one topic.

    For more than one notice, `link` is None, and a `by`, `due_at` or `reason` that differs is None.
    """

    count: int
    documents: tuple[str, ...]
    link: str | None
    by: str | None
    due_at: str | None
    reason: str | None

    @classmethod
    def from_notice(cls, notice: Notice) -> "NoticeSummary":
        """Return the summary of a single notice."""
        names = tuple(dict.fromkeys(notice.documents))[:MAX_NAMED]
        return cls(notice.count, names, notice.link, notice.by, notice.due_at, notice.reason)

    @classmethod
    def from_open_notification(cls, notification: OpenNotification) -> "NoticeSummary":
        """Return the summary that an open notification stores."""
        documents = tuple(notification.gathered["documents"])
        return cls(notification.total, **{**notification.gathered, "documents": documents})

    def __add__(self, other: "NoticeSummary") -> "NoticeSummary":
        return NoticeSummary(
            count=self.count + other.count,
            documents=tuple(dict.fromkeys(self.documents + other.documents))[:MAX_NAMED],
            link=None,
            by=self.by if self.by == other.by else None,
            due_at=self.due_at if self.due_at == other.due_at else None,
            reason=self.reason if self.reason == other.reason else None,
        )

    @property
    def gathered(self) -> dict[str, Any]:
        """Return the values for the column `gathered`: all except the count."""
        return {name: value for name, value in asdict(self).items() if name != "count"}


def collect_notices(notices: Sequence[Notice]) -> None:
    """Add notices to their recipients' open notifications; create a notification if none is open.

    One notification covers all notices to the same user on the same topic; it is not written if the
    user's preferences exclude it. Executes a fixed number of SQL statements, regardless of the
    number of notices or users. Call `queries.acquire_advisory_lock` first, in the same transaction.
    """
    members = queries.list_members(notices) if notices else []
    if not members:
        return

    @cache
    def summarize(notice_indexes: tuple[int, ...]) -> dict[str, NoticeSummary]:
        # The summaries are cached, because the members of a team get the same notices.
        by_topic: dict[str, NoticeSummary] = {}
        for notice in (notices[index] for index in notice_indexes):
            name, summary = notice.topic_name, NoticeSummary.from_notice(notice)
            by_topic[name] = by_topic[name] + summary if name in by_topic else summary
        return by_topic

    render = cache(_render_message)
    user_ids, topic_names = {member.id for member in members}, {n.topic_name for n in notices}
    open_notifications = queries.lock_open_notifications(user_ids, topic_names)
    entries = []
    for member in members:
        for topic_name, new_summary in summarize(tuple(member.audience_indexes)).items():
            open_notification = open_notifications.get((member.id, topic_name))
            summary = (
                new_summary
                if open_notification is None
                else NoticeSummary.from_open_notification(open_notification) + new_summary
            )
            text = render(topic_name, summary, member.locale, member.time_zone)
            entries.append(_build_entry(member, topic_name, summary, text, open_notification))
    enabled_entries = [entry for entry in entries if entry.in_app or entry.by_mail]
    queries.write_notifications(
        enabled_entries, window=container.settings().notification_window_seconds
    )


def _build_entry(
    member: AudienceMember,
    topic_name: str,
    summary: NoticeSummary,
    text: Message,
    open_notification: OpenNotification | None,
) -> NotificationEntry:
    kind = TOPICS[topic_name].kind
    in_app, by_mail = preferences.get_channels(member.preferences, kind)
    return NotificationEntry(
        id=uuid7() if open_notification is None else open_notification.id,
        user_id=member.id,
        message=topic_name,
        kind=kind,
        total=summary.count,
        gathered=summary.gathered,
        title=text.title,
        body=text.body,
        link=_build_link(topic_name, summary, member.id),
        in_app=in_app,
        by_mail=by_mail,
    )


def _render_message(
    topic_name: str, summary: NoticeSummary, locale: str, time_zone: str
) -> Message:
    is_single = summary.count == 1 and summary.documents
    single_message_name = TOPICS[topic_name].single_message_name if is_single else None
    ellipsis = ["…"] if summary.count > len(summary.documents) else []
    values = {
        "document": summary.documents[0] if summary.documents else None,
        "documents": ", ".join([*summary.documents, *ellipsis]) if summary.documents else None,
        "by": summary.by,
        "due_at": datetime.fromisoformat(summary.due_at) if summary.due_at else None,
        "reason": summary.reason,
    }
    return sending.messages.render(
        single_message_name or topic_name,
        locale=locale,
        time_zone=time_zone,
        values=values,
        count=None if single_message_name else summary.count,
    )


def _build_link(topic_name: str, summary: NoticeSummary, user_id: UUID) -> str:
    if summary.count == 1 and summary.link is not None:
        return summary.link
    return f"{_API}/{TOPICS[topic_name].link.format(user_id=user_id)}"
