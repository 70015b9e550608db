"""SQL queries for notifications that are unread and still collect events (open notifications)."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple
from uuid import UUID

import orjson
from sqlalchemy import text

from app.kit import db, tenancy
from app.kit.permissions import Role

_ROLE_NAMES = [role.name for role in Role]

_LOCK = text("SELECT pg_advisory_xact_lock(hashtextextended(:key, 0))")
_RECORD_CAUSES = text(
    """
    INSERT INTO notification_causes (organization_id, cause)
    SELECT :org, cause FROM unnest(CAST(:causes AS uuid[])) AS event (cause)
    ON CONFLICT DO NOTHING RETURNING cause
    """
)
# The query returns one row per user, with the indexes of all audiences that include the user. For a
# hundred notices to a team of a thousand members, it therefore returns only a thousand rows.
_LIST_MEMBERS = text(
    """
    WITH audiences AS (
        SELECT * FROM unnest(CAST(:numbers AS int[]), CAST(:min_roles AS int[]),
            CAST(:except_user_ids AS uuid[]), CAST(:everybody AS boolean[]))
            AS audience (number, min_role, except_user_id, everybody)
    ), included AS (
        SELECT * FROM unnest(CAST(:user_numbers AS int[]), CAST(:user_ids AS uuid[]))
            AS by_id (number, user_id)
        UNION
        SELECT by_team.number, member.user_id
        FROM unnest(CAST(:team_numbers AS int[]), CAST(:team_ids AS uuid[]))
            AS by_team (number, team_id)
        JOIN team_members member
            ON member.organization_id = :org AND member.team_id = by_team.team_id
        UNION
        SELECT audiences.number, member.user_id
        FROM audiences JOIN memberships member ON member.organization_id = :org
        WHERE audiences.everybody
    )
    SELECT users.id, users.locale, users.time_zone, users.notification_preferences AS preferences,
           array_agg(included.number ORDER BY included.number) AS numbers
    FROM included
    JOIN audiences USING (number)
    JOIN memberships member ON member.organization_id = :org AND member.user_id = included.user_id
    JOIN users ON users.id = included.user_id AND users.disabled_at IS NULL
    WHERE array_position(CAST(:roles AS text[]), CAST(member.role AS text)) >= audiences.min_role
      AND included.user_id IS DISTINCT FROM audiences.except_user_id
    GROUP BY users.id ORDER BY users.id
    """
)
# A notification that was read is closed: no event is added to it, and its email is not sent. All
# open notifications are locked first, because another transaction may be marking some as read.
_LOCK_OPEN = text(
    """
    WITH locked AS MATERIALIZED (
        SELECT user_id, message, id, count AS total, gathered, read_at FROM notifications
        WHERE organization_id = :org AND user_id = ANY(CAST(:user_ids AS uuid[]))
          AND message = ANY(CAST(:messages AS text[])) AND open_until IS NOT NULL
        ORDER BY id FOR NO KEY UPDATE
    ), closed AS (
        UPDATE notifications note SET open_until = NULL, by_mail = false FROM locked
        WHERE note.organization_id = :org AND note.id = locked.id AND locked.read_at IS NOT NULL
    )
    SELECT user_id, message, id, total, gathered FROM locked WHERE read_at IS NULL
    """
)
_WRITE = text(
    """
    INSERT INTO notifications (organization_id, id, user_id, message, kind, count, gathered, title,
        body, link, in_app, by_mail, open_until, created_at, updated_at)
    SELECT :org, entry.*, now() + make_interval(secs => :window), now(), now()
    FROM unnest(CAST(:id AS uuid[]), CAST(:user_id AS uuid[]), CAST(:message AS text[]),
        CAST(:kind AS text[]), CAST(:total AS int[]), CAST(:gathered AS jsonb[]),
        CAST(:title AS text[]), CAST(:body AS text[]), CAST(:link AS text[]),
        CAST(:in_app AS boolean[]), CAST(:by_mail AS boolean[])) AS entry
    ON CONFLICT (organization_id, id) DO UPDATE SET count = excluded.count,
        gathered = excluded.gathered, title = excluded.title, body = excluded.body,
        link = excluded.link, in_app = excluded.in_app, by_mail = excluded.by_mail,
        updated_at = excluded.updated_at
    """
)


def acquire_advisory_lock() -> None:
    """Acquire the organization's advisory lock for open notifications until the transaction ends.

    Without this lock, two transactions could open two notifications for the same user and message.
    """
    key = f"{tenancy.current_organization_id()}/notifications"
    db.session().execute(_LOCK, {"key": key})


def record_causes(event_ids: Iterable[UUID]) -> set[UUID]:
    """Record events as handled, and return the ids of the events that were not handled before."""
    values = {
        "org": tenancy.current_organization_id(),
        "causes": sorted(str(event_id) for event_id in event_ids),
    }
    return set(db.session().execute(_RECORD_CAUSES, values).scalars())


@dataclass(frozen=True, slots=True, kw_only=True)
class Audience:
    """The members to notify, selected by user id or team id, or all members if `everybody` is true.

    Members with a role below `min_role` are excluded, and so is `except_user_id`.
    """

    user_ids: Sequence[UUID] = ()
    team_ids: Sequence[UUID] = ()
    everybody: bool = False
    min_role: Role = Role.viewer
    except_user_id: UUID | None = None


class AudienceMember(NamedTuple):
    """A user, and the indexes of the audiences that include the user.

    `preferences` holds only the preferences that differ from the defaults.
    """

    id: UUID
    locale: str
    time_zone: str
    preferences: dict[str, Any]
    audience_indexes: list[int]


def list_members(audiences: Sequence[Audience]) -> list[AudienceMember]:
    """Return the users in at least one audience, each with the indexes of the user's audiences."""
    user_pairs = [(i, id_) for i, item in enumerate(audiences) for id_ in set(item.user_ids)]
    team_pairs = [(i, id_) for i, item in enumerate(audiences) for id_ in set(item.team_ids)]
    values = {
        "org": tenancy.current_organization_id(),
        "roles": _ROLE_NAMES,
        "numbers": list(range(len(audiences))),
        "min_roles": [audience.min_role.value for audience in audiences],
        "except_user_ids": [
            audience.except_user_id and str(audience.except_user_id) for audience in audiences
        ],
        "everybody": [audience.everybody for audience in audiences],
        "user_numbers": [index for index, _ in user_pairs],
        "user_ids": [str(user_id) for _, user_id in user_pairs],
        "team_numbers": [index for index, _ in team_pairs],
        "team_ids": [str(team_id) for _, team_id in team_pairs],
    }
    return [AudienceMember(*row) for row in db.session().execute(_LIST_MEMBERS, values)]


class NotificationEntry(NamedTuple):
    """The values of an open notification to insert or update."""

    id: UUID
    user_id: UUID
    message: str
    kind: str
    total: int
    gathered: dict[str, Any]
    title: str
    body: str
    link: str
    in_app: bool
    by_mail: bool


class OpenNotification(NamedTuple):
    """A stored notification that still collects events; `total` is how many it has collected."""

    id: UUID
    total: int
    gathered: dict[str, Any]


def lock_open_notifications(
    user_ids: Iterable[UUID], messages: Iterable[str]
) -> dict[tuple[UUID, str], OpenNotification]:
    """Lock the users' open notifications with these messages, and return them by user and message.

    Open notifications that have been read are closed and not returned.
    """
    values = {
        "org": tenancy.current_organization_id(),
        "user_ids": [str(user_id) for user_id in user_ids],
        "messages": list(messages),
    }
    rows = db.session().execute(_LOCK_OPEN, values)
    return {
        (row.user_id, row.message): OpenNotification(row.id, row.total, row.gathered)
        for row in rows
    }


def write_notifications(entries: Sequence[NotificationEntry], *, window: int) -> None:
    """Insert or update open notifications; new notifications stay open for `window` seconds."""
    if not entries:
        return
    columns = {
        name: [getattr(entry, name) for entry in entries] for name in NotificationEntry._fields
    }
    values = {
        **columns,
        "org": tenancy.current_organization_id(),
        "window": window,
        "id": [str(entry.id) for entry in entries],
        "user_id": [str(entry.user_id) for entry in entries],
        "gathered": [orjson.dumps(entry.gathered).decode() for entry in entries],
    }
    db.session().execute(_WRITE, values)
