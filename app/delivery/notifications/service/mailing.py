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
    CloseRequest,
    DueGroup,
    MailedNotification,
    PendingEmail,
    Postponement,
)
from app.delivery.notifications.service.scheduling import EmailSchedule, compute_send_time
from app.delivery.notifications.service.sending import messages
from app.identity.users import preferences, unsubscribing
from app.kit.db import Checkpoint
from app.kit.emails import Email, Emails
from app.kit.links import build_absolute_url, build_open_link, build_unsubscribe_url


def _find_address(recipient: Mapping[str, Any]) -> str | None:
    """Return the current address for an email, or None if the email must not be sent.

    `recipient` has the properties that `_build_email` sets. Returns None if the user is disabled or
    no longer a member, if the organization is closed, if the user no longer wants emails of any of
    the `kinds`, or if there are `notification_ids` but none of these notifications is unread.
    """
    account = queries.find_member_account(UUID(recipient["user_id"]))
    if account is None:
        return None
    notification_ids = [UUID(item) for item in recipient.get("notification_ids", ())]
    if notification_ids and not queries.has_unread(notification_ids):
        return None
    is_wanted = any(
        preferences.get_channels(account.preferences, kind)[1] for kind in recipient["kinds"]
    )
    return account.address if is_wanted else None


emails = Emails(Path(__file__).parents[1] / "emails", queue="bulk_mail", find_address=_find_address)


def enqueue_email(notification_id: UUID) -> None:
    """Queue the email for a notification, or postpone it for a digest or because of quiet hours.

    Does nothing if the notification was read or deleted, or if its user is disabled, is no longer
    a member, or no longer wants the email.
    """
    email = queries.get_pending_email(notification_id)
    if email is None or not _is_wanted(email.notification):
        return
    schedule = _get_schedule(email, email.notification.time_zone)
    send_at = compute_send_time(schedule, since=email.since, now=email.now)
    if send_at > email.now:
        queries.postpone_email(notification_id, send_at)
    else:
        emails.enqueue_many([_build_email([email.notification])])


def enqueue_due_emails(checkpoint: Checkpoint) -> None:
    """Close the notifications whose `open_until` has passed, and queue their emails.

    Handles all organizations. Also closes other open notifications of the user that belong in the
    same email. Emails are postponed if the user's next digest is not due yet, or during the user's
    quiet hours. `checkpoint` commits after each batch.
    """
    previous_groups: list[DueGroup] = []
    while due_groups := queries.list_due_groups():
        # Rows that another transaction has locked are still due: the next run handles them.
        if [group[:4] for group in due_groups] == [group[:4] for group in previous_groups]:
            return
        postponements, close_requests = _plan_emails(due_groups)
        queries.postpone_emails(postponements)
        notifications = queries.close_notifications(close_requests)
        emails.enqueue_many(list(_build_emails(notifications, close_requests)))
        checkpoint()
        previous_groups = due_groups


def _plan_emails(due_groups: Sequence[DueGroup]) -> tuple[list[Postponement], list[CloseRequest]]:
    """Decide for each due group whether to postpone its email or to close its notifications now."""
    postponements, close_requests = [], []
    for (organization_id, user_id), groups in groupby(due_groups, key=lambda group: group[:2]):
        for by_mail, groups_by_mail in groupby(
            sorted(groups, key=lambda group: group.by_mail), key=lambda group: group.by_mail
        ):
            user_groups = list(groups_by_mail)
            first = user_groups[0]
            since = min(group.since for group in user_groups)
            send_at = compute_send_time(
                _get_schedule(first, first.time_zone), since=since, now=first.now
            )
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


def _is_wanted(notification: MailedNotification) -> bool:
    return preferences.get_channels(notification.preferences, notification.kind)[1]


def _get_schedule(data: DueGroup | PendingEmail, time_zone: str) -> EmailSchedule:
    frequency = data.email_frequency or EmailFrequency.IMMEDIATE
    return EmailSchedule(frequency, data.quiet_from, data.quiet_to, time_zone)


def _receives_digests(group: DueGroup) -> bool:
    return group.email_frequency not in (None, EmailFrequency.IMMEDIATE)


def _build_emails(
    notifications: Sequence[MailedNotification], close_requests: Sequence[CloseRequest]
) -> Iterable[Email]:
    """Yield an email per member and notification type, or one digest if the member gets digests."""
    digests = {request[:2] for request in close_requests if request.kind is None}
    for _, group in groupby(
        notifications, key=lambda item: (item[:2], None if item[:2] in digests else item.kind)
    ):
        if wanted_notifications := list(filter(_is_wanted, group)):
            yield _build_email(wanted_notifications)


def _build_email(notifications: Sequence[MailedNotification]) -> Email:
    """Build the email about one or more notifications of a user, with a link to unsubscribe.

    An email about a single notification has a button for the notification's link.
    """
    first = notifications[0]
    totals = {notification.kind: notification.total for notification in notifications}
    count = sum(totals.values())
    title, body, page_url = first.title, first.body, _build_page_link(first)
    if count > 1:
        title = _render_combined_title(first, count - 1)
        body, page_url = "\n\n".join(map(_build_quote, notifications[:MAX_QUOTED])), None
    # If the email counts more notifications than it quotes, it is sent even if all quoted
    # notifications have been read.
    ids = [item.id for item in notifications] if count == len(notifications) else []
    token = unsubscribing.build_token(first.user_id, totals)
    return Email(
        name="notification",
        to=first.email,
        locale=first.locale,
        values={
            "organization": first.organization_name,
            "title": title,
            "body": body or title,
            "link": page_url,
            "unsubscribe": build_unsubscribe_url(token=token, language=first.locale),
        },
        organization_id=first.organization_id,
        message_id=f"notification-{first.id}",
        recipient={
            "user_id": str(first.user_id),
            "notification_ids": [str(item) for item in ids],
            "kinds": list(totals),
        },
    )


def _build_page_link(notification: MailedNotification) -> str | None:
    """Build the link to a notification's page, or return None if the notification has no link."""
    if not notification.link:
        return None
    return build_open_link(
        notification.link, org_slug=notification.slug, language=notification.locale
    )


def _render_combined_title(first: MailedNotification, additional_count: int) -> str:
    values = {"title": first.title}
    return messages.render(
        "and_more",
        locale=first.locale,
        time_zone=first.time_zone,
        values=values,
        count=additional_count,
    ).title


def _build_quote(notification: MailedNotification) -> str:
    # Each notification has its own link, so the email shows the links as text instead of a button.
    link = _build_page_link(notification)
    lines = (notification.title, notification.body, build_absolute_url(link) if link else "")
    return "\n".join(line for line in lines if line)
