"""SQL queries for emails: the data of one email, and the notifications whose emails are due."""

from collections.abc import Iterable, Sequence
from datetime import datetime, time
from typing import Any, NamedTuple
from uuid import UUID

from sqlalchemy import func, literal, select, text, update

from app.delivery.notifications.models import DeliveryPreferences, Notification
from app.identity.organizations.models import CLOSED_STATUSES, Membership, Organization
from app.identity.users.models import User
from app.kit import db, tenancy

MAX_DUE = 500
"""The maximum number of due notifications that one statement looks up."""
MAX_QUOTED = 20
"""The maximum number of notifications that an email quotes."""

_LIST_DUE = text(
    """
    SELECT due.organization_id, due.user_id, due.kind, due.by_mail, min(due.created_at) AS since,
           now() AS now, users.time_zone, delivery.email_frequency, delivery.quiet_from,
           delivery.quiet_to
    FROM (
        SELECT organization_id, user_id, kind, by_mail, created_at FROM notifications
        WHERE open_until <= now() ORDER BY open_until LIMIT :max_due
    ) AS due
    JOIN users ON users.id = due.user_id
    LEFT JOIN notification_delivery_preferences delivery ON delivery.user_id = due.user_id
    GROUP BY due.organization_id, due.user_id, due.kind, due.by_mail, users.id, delivery.user_id
    ORDER BY 1, 2, 3, 4
    """
)
# Rows that other transactions have locked are left for the next run, so nothing waits for a lock.
_POSTPONE = text(
    """
    WITH pending AS (
        SELECT note.organization_id, note.id, pick.until
        FROM notifications note
        JOIN unnest(CAST(:organization_ids AS uuid[]), CAST(:user_ids AS uuid[]),
            CAST(:untils AS timestamptz[])) AS pick (organization_id, user_id, until)
            USING (organization_id, user_id)
        WHERE note.open_until <= now() AND note.by_mail
        FOR NO KEY UPDATE OF note SKIP LOCKED
    )
    UPDATE notifications note SET open_until = pending.until FROM pending
    WHERE note.organization_id = pending.organization_id AND note.id = pending.id
    """
)
# Open notifications that are not due yet are included, so that a user gets one email about all of
# them.
_CLOSE = text(
    """
    WITH closing AS (
        SELECT note.organization_id, note.id
        FROM notifications note
        JOIN unnest(CAST(:organization_ids AS uuid[]), CAST(:user_ids AS uuid[]),
            CAST(:kinds AS text[]), CAST(:by_mails AS boolean[]))
            AS pick (organization_id, user_id, kind, by_mail) USING (organization_id, user_id)
        WHERE note.open_until IS NOT NULL AND note.by_mail = pick.by_mail
          AND (pick.kind IS NULL OR note.kind = pick.kind)
        FOR NO KEY UPDATE OF note SKIP LOCKED
    ), closed AS (
        UPDATE notifications note SET open_until = NULL
        FROM closing
        WHERE note.organization_id = closing.organization_id AND note.id = closing.id
        RETURNING note.*
    ), mailed AS (
        SELECT closed.*, users.email, users.locale, users.time_zone,
               users.notification_preferences AS preferences,
               count(*) OVER same_kind AS total,
               row_number() OVER (same_kind ORDER BY closed.id) AS place
        FROM closed JOIN users ON users.id = closed.user_id AND users.disabled_at IS NULL
        WHERE closed.by_mail AND closed.read_at IS NULL
          AND EXISTS (SELECT FROM memberships member
                      WHERE member.organization_id = closed.organization_id
                        AND member.user_id = closed.user_id)
        WINDOW same_kind AS (PARTITION BY closed.organization_id, closed.user_id, closed.kind)
    )
    SELECT mailed.organization_id, mailed.user_id, mailed.kind, mailed.id, mailed.title,
           mailed.body, mailed.link, mailed.total, mailed.email, mailed.locale, mailed.time_zone,
           mailed.preferences, organizations.name AS organization_name, organizations.slug
    FROM mailed JOIN organizations ON organizations.id = mailed.organization_id
    WHERE mailed.place <= :max_quoted
    ORDER BY mailed.organization_id, mailed.user_id, mailed.kind, mailed.id
    """
)


class MailedNotification(NamedTuple):
    """A notification to send by email, unless `preferences` no longer allow this email.

    `link` is the path and query of an API operation. `total` is the number of all notifications
    with the same organization, user and kind that are sent together.
    """

    organization_id: UUID
    user_id: UUID
    kind: str
    id: UUID
    title: str
    body: str
    link: str | None
    total: int
    email: str
    locale: str
    time_zone: str
    preferences: dict[str, Any]
    organization_name: str
    slug: str


class PendingEmail(NamedTuple):
    """The data for the email about one notification, which was created at `since`.

    `now` is the database's current time. `email_frequency` and the quiet hours are None if the user
    has not set them.
    """

    notification: MailedNotification
    since: datetime
    now: datetime
    email_frequency: str | None
    quiet_from: time | None
    quiet_to: time | None


def get_pending_email(notification_id: UUID) -> PendingEmail | None:
    """Return the data for the email about a notification.

    Returns None if the notification was read or deleted, or if its user is disabled or no longer a
    member.
    """
    delivery, note = DeliveryPreferences, Notification
    columns = (
        *(note.organization_id, note.user_id, note.kind, note.id, note.title, note.body, note.link),
        *(literal(1), User.email, User.locale, User.time_zone, User.notification_preferences),
        *(Organization.name, Organization.slug, note.created_at, func.now()),
        *(delivery.email_frequency, delivery.quiet_from, delivery.quiet_to),
    )
    statement = (
        select(*columns)
        .join(User, User.id == note.user_id)
        .join(Organization, Organization.id == note.organization_id)
        .outerjoin(delivery, delivery.user_id == User.id)
        .join(
            Membership,
            (Membership.organization_id == note.organization_id)
            & (Membership.user_id == note.user_id),
        )
        .where(note.id == notification_id, note.read_at.is_(None), User.disabled_at.is_(None))
    )
    row = db.session().execute(statement).first()
    if row is None:
        return None
    width = len(MailedNotification._fields)
    return PendingEmail(MailedNotification(*row[:width]), *row[width:])


class MemberAccount(NamedTuple):
    """The email address of a member's account, and the member's notification preferences."""

    address: str
    preferences: dict[str, Any]


def find_member_account(user_id: UUID) -> MemberAccount | None:
    """Return the account of a member of the current organization.

    Returns None if the organization is closed, or the user is disabled or no longer a member.
    """
    statement = (
        select(User.email, User.notification_preferences)
        .join(Membership, Membership.user_id == User.id)
        .join(Organization, Organization.id == Membership.organization_id)
        .where(
            Organization.id == tenancy.current_organization_id(),
            Organization.status.not_in(CLOSED_STATUSES),
            User.id == user_id,
            User.disabled_at.is_(None),
        )
    )
    return db.find_row(MemberAccount, statement)


def has_unread(notification_ids: Sequence[UUID]) -> bool:
    """Return whether at least one of these notifications exists and is unread."""
    statement = select(Notification.id).where(
        Notification.id.in_(notification_ids), Notification.read_at.is_(None)
    )
    return db.session().execute(statement.limit(1)).first() is not None


def postpone_email(notification_id: UUID, until: datetime) -> None:
    """Postpone the email for a notification until the time `until`."""
    statement = update(Notification).where(Notification.id == notification_id)
    db.session().execute(statement.values(by_mail=True, open_until=until))


class DueGroup(NamedTuple):
    """Due notifications with the same organization, user, `kind` and `by_mail`.

    `since` is the time when the oldest of the notifications was created. The email preferences are
    None if the user has not set them.
    """

    organization_id: UUID
    user_id: UUID
    kind: str
    by_mail: bool
    since: datetime
    now: datetime
    time_zone: str
    email_frequency: str | None
    quiet_from: time | None
    quiet_to: time | None


def list_due_groups() -> list[DueGroup]:
    """Return the groups of the MAX_DUE notifications that have been due the longest.

    The groups are from all organizations. Callers must use `tenancy.across_organizations`.
    """
    return [DueGroup(*row) for row in db.session().execute(_LIST_DUE, {"max_due": MAX_DUE})]


class Postponement(NamedTuple):
    """The time to which a user's emails from one organization are postponed."""

    organization_id: UUID
    user_id: UUID
    until: datetime


def postpone_emails(postponements: Sequence[Postponement]) -> None:
    """Postpone the users' due emails. Callers must use `tenancy.across_organizations`."""
    if not postponements:
        return
    values = {
        "organization_ids": [str(item.organization_id) for item in postponements],
        "user_ids": [str(item.user_id) for item in postponements],
        "untils": [item.until for item in postponements],
    }
    db.session().execute(_POSTPONE, values)


class CloseRequest(NamedTuple):
    """A request to close a user's open notifications with the given `by_mail`.

    If `kind` is not None, only notifications of this type are closed.
    """

    organization_id: UUID
    user_id: UUID
    kind: str | None
    by_mail: bool


def close_notifications(close_requests: Iterable[CloseRequest]) -> list[MailedNotification]:
    """Close the requested notifications that are not locked, and return those to send by email.

    Returns at most MAX_QUOTED for each organization, user and kind, sorted by these columns.
    Callers must use `tenancy.across_organizations`.
    """
    items = list(close_requests)
    if not items:
        return []
    values = {
        "organization_ids": [str(item.organization_id) for item in items],
        "user_ids": [str(item.user_id) for item in items],
        "kinds": [item.kind for item in items],
        "by_mails": [item.by_mail for item in items],
        "max_quoted": MAX_QUOTED,
    }
    return [MailedNotification(*row) for row in db.session().execute(_CLOSE, values)]
