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
    """A user to notify; `chosen` holds the preferences that differ from the defaults."""

    id: UUID
    locale: str
    time_zone: str
    chosen: dict[str, Any]


def recipients(
    user_ids: Sequence[UUID],
    team_ids: Sequence[UUID],
    *,
    role: Role | None,
    least: Role,
    but: UUID | None,
) -> list[Recipient]:
    """Return the members of the bound organization to notify.

    Those are the members among `user_ids`, in one of `team_ids`, or with exactly `role`. Only
    members with at least the role `least` are included, and never the user `but`.
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
            Membership.role.in_([one.name for one in Role if one >= least]),
            User.disabled_at.is_(None),
        )
        .order_by(User.id)
    )
    if but is not None:
        statement = statement.where(User.id != but)
    return [Recipient(*row) for row in db.session().execute(statement)]


class Note(NamedTuple):
    """The text of a notification for one user."""

    user_id: UUID
    title: str
    body: str
    in_app: bool


def add(
    notes: Sequence[Note], *, kind: str, link: str | None, unique_key: str | None
) -> dict[UUID, UUID]:
    """Insert notifications in one statement and return the ids of the new ones by user.

    Users who already have a notification with this `unique_key` get none.
    """
    cause = {"kind": kind, "link": link, "unique_key": unique_key}
    rows = [{"id": uuid7(), **note._asdict(), **cause} for note in notes]
    statement = insert(Notification).on_conflict_do_nothing()
    told = db.session().execute(statement.returning(Notification.user_id, Notification.id), rows)
    return {row.user_id: row.id for row in told}


class Mail(NamedTuple):
    """The data of a notification's email."""

    address: str
    locale: str
    title: str
    body: str
    link: str | None
    organization: str
    slug: str


def mail_of(notification_id: UUID) -> Mail | None:
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
    return None if row is None else Mail(*row)
