"""SQL of notifications."""

from collections.abc import Sequence
from typing import NamedTuple
from uuid import UUID

from sqlalchemy import or_, select
from sqlalchemy.dialects.postgresql import insert

from app.delivery.notifications.models import Notification
from app.identity.organizations.models import Membership, Organization
from app.identity.users.models import User
from app.kit import db
from app.kit.ids import uuid7


def members(user_ids: Sequence[UUID], roles: Sequence[str]) -> list[UUID]:
    """Members of the bound organization who are among `user_ids` or have one of `roles`."""
    statement = (
        select(Membership.user_id)
        .join(User, User.id == Membership.user_id)
        .where(
            or_(Membership.user_id.in_(user_ids), Membership.role.in_(roles)),
            User.disabled_at.is_(None),
        )
        .order_by(Membership.user_id)
    )
    return list(db.session().scalars(statement))


def add(
    user_ids: Sequence[UUID],
    *,
    kind: str,
    title: str,
    body: str,
    link: str | None,
    unique_key: str | None,
) -> list[UUID]:
    """Write one notification per user; the ids of those that were not told before."""
    message = {
        "kind": kind,
        "title": title,
        "body": body,
        "link": link,
        "unique_key": unique_key,
    }
    rows = [{"id": uuid7(), "user_id": user_id, **message} for user_id in user_ids]
    statement = insert(Notification).on_conflict_do_nothing().returning(Notification.id)
    return list(db.session().scalars(statement, rows))


class Mail(NamedTuple):
    """What an e-mail about a notification is made of."""

    address: str
    locale: str
    title: str
    body: str
    link: str | None
    organization: str


def mail_of(notification_id: UUID) -> Mail | None:
    """The e-mail of a notification; None when it, or its user, is gone."""
    statement = (
        select(
            User.email,
            User.locale,
            Notification.title,
            Notification.body,
            Notification.link,
            Organization.name,
        )
        .join(User, User.id == Notification.user_id)
        .join(Organization, Organization.id == Notification.organization_id)
        .where(Notification.id == notification_id, User.disabled_at.is_(None))
    )
    row = db.session().execute(statement).first()
    return None if row is None else Mail(*row)
