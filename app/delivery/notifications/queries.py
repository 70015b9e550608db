"""SQL of notifications."""

from collections.abc import Sequence
from typing import Any, NamedTuple
from uuid import UUID

from sqlalchemy import and_, or_, select
from sqlalchemy.dialects.postgresql import insert

from app.delivery.notifications.models import Notification
from app.identity.organizations.models import Membership, Organization
from app.identity.teams.models import TeamMember
from app.identity.users.models import User
from app.kit import db
from app.kit.ids import uuid7
from app.kit.permissions import Role
from app.labeling.artifacts.models import Artifact
from app.labeling.comments.models import TagSetComment
from app.labeling.tag_sets.models import TagSet


class Recipient(NamedTuple):
    """Who may be told, and how: `chosen` are their preferences where they differ."""

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
    """Members of the bound organization who are among `user_ids`, in one of `team_ids` or have
    `role`; of these, those with at least `least`, less `but`."""
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
    """What one user is told."""

    user_id: UUID
    title: str
    body: str


def add(
    notes: Sequence[Note], *, kind: str, link: str | None, unique_key: str | None
) -> dict[UUID, UUID]:
    """Write notifications in one statement; the ids of those not told before, by their user."""
    cause = {"kind": kind, "link": link, "unique_key": unique_key}
    rows = [{"id": uuid7(), **note._asdict(), **cause} for note in notes]
    statement = insert(Notification).on_conflict_do_nothing()
    told = db.session().execute(statement.returning(Notification.user_id, Notification.id), rows)
    return {row.user_id: row.id for row in told}


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


class Comment(NamedTuple):
    """What somebody is told of a comment."""

    body: str
    author: str
    document: str


def comment(comment_id: UUID) -> Comment | None:
    """A comment, with its author's and its document's name; None when it is gone."""
    statement = (
        select(TagSetComment.body, User.name, Artifact.name)
        .join(User, User.id == TagSetComment.author_id)
        .join(TagSet, _same(TagSet, TagSetComment.tag_set_id, TagSetComment))
        .join(Artifact, _same(Artifact, TagSet.artifact_id, TagSet))
        .where(TagSetComment.id == comment_id)
    )
    row = db.session().execute(statement).first()
    return None if row is None else Comment(*row)


def document_name(artifact_id: UUID) -> str | None:
    """The name of a document; None when it is gone."""
    return db.session().scalar(select(Artifact.name).where(Artifact.id == artifact_id))


def document_name_of(tag_set_id: UUID) -> str | None:
    """The name of a label set's document; None when either is gone."""
    joined = select(Artifact.name).join(TagSet, _same(Artifact, TagSet.artifact_id, TagSet))
    return db.session().scalar(joined.where(TagSet.id == tag_set_id))


def person_name(user_id: UUID) -> str | None:
    """The name of a user."""
    return db.session().scalar(select(User.name).where(User.id == user_id))


def _same(target: Any, key: Any, source: Any) -> Any:
    return and_(target.organization_id == source.organization_id, target.id == key)
