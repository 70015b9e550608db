"""Emails for notifications, sent immediately, in a digest, or after the quiet hours.

An email is queued in the transaction that closes its notifications. Therefore, no notification is
lost or included in two emails, even if a process is killed.
"""

from collections.abc import Iterable, Mapping, Sequence
from itertools import groupby
from pathlib import Path
from typing import Any
from uuid import UUID

from app.delivery.notifications.models import EmailFrequency
from app.delivery.notifications.queries import emails as queries
from app.delivery.notifications.queries.emails import (
    MAX_QUOTED,
    ClosedNotification,
    CloseRequest,
    DueGroup,
    EmailData,
    Postponement,
)
from app.delivery.notifications.service.scheduling import EmailSchedule, compute_send_time
from app.delivery.notifications.service.sending import messages
from app.identity.users import preferences, unsubscribing
from app.kit import tenancy
from app.kit.db import Checkpoint
from app.kit.emails import Email, Emails
from app.kit.links import build_open_link, build_unsubscribe_url, make_absolute


def _find_address(recipient: Mapping[str, Any]) -> str | None:
    """Return the current address for an email, or None if the email must not be sent.

    `recipient` is a result of `_build_recipient`. Returns None if the user is disabled or no longer
    a member, if the organization is closed, if the user no longer wants emails of these types, or
    if all notifications in the email have been read or deleted.
    """
    account = queries.find_member_account(UUID(recipient["user_id"]))
    if account is None:
        return None
    # Jobs of earlier releases have no notification ids.
    notification_ids = [UUID(item) for item in recipient.get("notification_ids", ())]
    if notification_ids and not queries.has_unread(notification_ids):
        return None
    is_wanted = any(
        preferences.get_channels(account.preferences, kind)[1] for kind in recipient["kinds"]
    )
    return account.address if is_wanted else None


emails = Emails(
    Path(__file__).parents[1] / "letters", queue="bulk_mail", find_address=_find_address
)


def enqueue_email(notification_id: UUID) -> None:
    """Queue the email for a notification, or postpone it for a digest or because of quiet hours.

    Does nothing if the notification was read or deleted, its user is disabled, or the user no
    longer wants the email.
    """
    data = queries.get_email_data(notification_id)
    if data is None or not preferences.get_channels(data.preferences, data.kind)[1]:
        return
    send_at = compute_send_time(_get_schedule(data), since=data.since, now=data.now)
    if send_at > data.now:
        queries.postpone_email(notification_id, send_at)
        return
    email = _build_email(
        notification_id,
        tenancy.current_organization_id(),
        user_id=data.user_id,
        notification_ids=[notification_id],
        kinds=[data.kind],
        address=data.address,
        locale=data.locale,
        organization=data.organization,
        slug=data.slug,
        title=data.title,
        body=data.body,
        link=data.link,
    )
    emails.enqueue_many([email])


def enqueue_due_emails(checkpoint: Checkpoint) -> None:
    """Close due notifications in every organization, and queue their emails.

    Emails are postponed if the user's next digest is not due yet, or during the user's quiet hours.
    `checkpoint` commits after each batch.
    """
    previous: list[DueGroup] = []
    while due := queries.list_due_groups():
        # Rows that another transaction has locked are still due: the next run handles them.
        if [group[:4] for group in due] == [group[:4] for group in previous]:
            return
        postponements, close_requests = _plan_emails(due)
        queries.postpone_emails(postponements)
        closed = queries.close_notifications(close_requests)
        emails.enqueue_many(list(_build_emails(closed, close_requests)))
        checkpoint()
        previous = due


def _plan_emails(due: Sequence[DueGroup]) -> tuple[list[Postponement], list[CloseRequest]]:
    """Decide for each due group whether to postpone its email or to close its notifications now."""
    postponements, close_requests = [], []
    for (organization_id, user_id), groups in groupby(due, key=lambda group: group[:2]):
        for by_mail, groups_by_mail in groupby(
            sorted(groups, key=lambda group: group.by_mail), key=lambda group: group.by_mail
        ):
            user_groups = list(groups_by_mail)
            first = user_groups[0]
            since = min(group.since for group in user_groups)
            send_at = compute_send_time(_get_schedule(first), since=since, now=first.now)
            if by_mail and send_at > first.now:
                postponements.append(Postponement(organization_id, user_id, send_at))
            elif by_mail and _receives_digests(first):
                close_requests.append(CloseRequest(organization_id, user_id, None, by_mail))
            else:
                kinds = dict.fromkeys(group.kind for group in user_groups)
                close_requests += [
                    CloseRequest(organization_id, user_id, kind, by_mail) for kind in kinds
                ]
    return postponements, close_requests


def _get_schedule(data: DueGroup | EmailData) -> EmailSchedule:
    frequency = data.email_frequency or EmailFrequency.IMMEDIATE
    return EmailSchedule(frequency, data.quiet_from, data.quiet_to, data.time_zone)


def _receives_digests(group: DueGroup) -> bool:
    return group.email_frequency not in (None, EmailFrequency.IMMEDIATE)


def _build_emails(
    closed: Sequence[ClosedNotification], close_requests: Sequence[CloseRequest]
) -> Iterable[Email]:
    """Yield one email per user and notification type, or one digest per user who gets digests."""
    digests = {request[:2] for request in close_requests if request.kind is None}
    for _, group in groupby(
        closed, key=lambda item: (item[:2], None if item[:2] in digests else item.kind)
    ):
        allowed_notifications = [
            item for item in group if preferences.get_channels(item.preferences, item.kind)[1]
        ]
        if allowed_notifications:
            yield _build_combined_email(allowed_notifications)


def _build_combined_email(notifications: Sequence[ClosedNotification]) -> Email:
    first = notifications[0]
    totals = {notification.kind: notification.total for notification in notifications}
    count = sum(totals.values())
    title, body, link = first.title, first.body, first.link
    if count > 1:
        title = _render_combined_title(first, count - 1)
        body, link = "\n\n".join(map(_build_quote, notifications[:MAX_QUOTED])), None
    # If the email counts more notifications than it quotes, it is sent even if all quoted
    # notifications have been read.
    ids = [item.id for item in notifications] if count == len(notifications) else []
    return _build_email(
        first.id,
        first.organization_id,
        user_id=first.user_id,
        notification_ids=ids,
        kinds=totals,
        address=first.email,
        locale=first.locale,
        organization=first.organization,
        slug=first.slug,
        title=title,
        body=body,
        link=link,
    )


def _render_combined_title(first: ClosedNotification, additional_count: int) -> str:
    values = {"title": first.title}
    return messages.render(
        "and_more",
        locale=first.locale,
        time_zone=first.time_zone,
        values=values,
        count=additional_count,
    ).title


def _build_quote(notification: ClosedNotification) -> str:
    # Each notification has its own link, so the email shows the links as text instead of a button.
    page_url = ""
    if notification.link:
        link = build_open_link(
            notification.link, org_slug=notification.slug, language=notification.locale
        )
        page_url = make_absolute(link)
    lines = (notification.title, notification.body, page_url)
    return "\n".join(line for line in lines if line)


def _build_email(
    notification_id: UUID,
    organization_id: UUID,
    *,
    user_id: UUID,
    notification_ids: Sequence[UUID],
    kinds: Iterable[str],
    address: str,
    locale: str,
    organization: str,
    slug: str,
    title: str,
    body: str,
    link: str | None,
) -> Email:
    """Build an email with a button for `link`, and a link to unsubscribe from the given `kinds`.

    The email is not sent if all notifications in `notification_ids` have been read or deleted by
    then; an empty list disables this check.
    """
    page_url = build_open_link(link, org_slug=slug, language=locale) if link else None
    token = unsubscribing.build_token(user_id, kinds)
    return Email(
        name="notification",
        to=address,
        locale=locale,
        values={
            "organization": organization,
            "title": title,
            "body": body or title,
            "link": page_url,
            "unsubscribe": build_unsubscribe_url(token=token, language=locale),
        },
        organization_id=organization_id,
        message_id=f"notification-{notification_id}",
        recipient=_build_recipient(user_id, notification_ids, kinds),
    )


def _build_recipient(
    user_id: UUID, notification_ids: Sequence[UUID], kinds: Iterable[str]
) -> dict[str, Any]:
    """Build the argument of `_find_address`."""
    return {
        "user_id": str(user_id),
        "notification_ids": [str(item) for item in notification_ids],
        "kinds": list(kinds),
    }
