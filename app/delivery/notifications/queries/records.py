"""SQL of notifications that are sent at once."""

from collections.abc import Sequence
from typing import Any, NamedTuple
from uuid import UUID

from sqlalchemy import or_, select
from sqlalchemy.dialects.postgresql import insert

from app.delivery.notifications.models import Notification
from app.identity.organizations.models import Membership, Organization
from app.identity.teams.models import TeamMember
from app.identity.users.models import User
from app.kit import db
from app.kit.ids import uuid7
from app.kit.permissions import Role


class Recipient(NamedTuple):
    """A user to notify; `preferences` holds those that differ from the defaults."""

    id: UUID
    locale: str
    time_zone: str
    preferences: dict[str, Any]


def list_recipients(
    user_ids: Sequence[UUID],
    team_ids: Sequence[UUID],
    *,
    role: Role | None,
    min_role: Role,
    except_user_id: UUID | None,
) -> list[Recipient]:
    """Return the members of the bound organization to notify.

    Those are the members among `user_ids`, in one of `team_ids`, or with exactly `role`. Only
    members with at least `min_role` are included, and never `except_user_id`.
    """
    in_teams = select(TeamMember.user_id).where(TeamMember.team_id.in_(team_ids))
    statement = (
        select(User.id, User.locale, User.time_zone, User.notification_preferences)
        .join(Membership, Membership.user_id == User.id)
        .where(
            or_(
                Membership.user_id.in_(user_ids),
                Membership.user_id.in_(in_teams),
                Membership.role.in_([role.name] if role is not None else []),
            ),
            Membership.role.in_([allowed.name for allowed in Role if allowed >= min_role]),
            User.disabled_at.is_(None),
        )
        .order_by(User.id)
    )
    if except_user_id is not None:
        statement = statement.where(User.id != except_user_id)
    return [Recipient(*row) for row in db.session().execute(statement)]


class NewNotification(NamedTuple):
    """The text of a notification for one user."""

    user_id: UUID
    title: str
    body: str
    in_app: bool


def insert_notifications(
    notifications: Sequence[NewNotification], *, kind: str, link: str | None, unique_key: str | None
) -> dict[UUID, UUID]:
    """Insert notifications in one statement and return the ids of the new ones by user.

    Users who already have a notification with this `unique_key` get none.
    """
    if not notifications:
        return {}
    common = {"kind": kind, "link": link, "unique_key": unique_key}
    rows = [{"id": uuid7(), **new._asdict(), **common} for new in notifications]
    statement = insert(Notification).on_conflict_do_nothing()
    returning = statement.returning(Notification.user_id, Notification.id)
    return {row.user_id: row.id for row in db.session().execute(returning, rows)}


class EmailData(NamedTuple):
    """The data of a notification's email."""

    address: str
    locale: str
    title: str
    body: str
    link: str | None
    organization: str
    slug: str


def get_email_data(notification_id: UUID) -> EmailData | None:
    """Return the email data of a notification, or None if it is gone or its user is disabled."""
    statement = (
        select(
            User.email,
            User.locale,
            Notification.title,
            Notification.body,
            Notification.link,
            Organization.name,
            Organization.slug,
        )
        .join(User, User.id == Notification.user_id)
        .join(Organization, Organization.id == Notification.organization_id)
        .where(Notification.id == notification_id, User.disabled_at.is_(None))
    )
    row = db.session().execute(statement).first()
    return None if row is None else EmailData(*row)
