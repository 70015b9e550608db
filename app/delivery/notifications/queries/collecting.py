"""SQL of open notifications, which count several events for one user in one notification."""

from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple
from uuid import UUID

import orjson
from sqlalchemy import text

from app.kit import db, purging, tenancy
from app.kit.permissions import Role

_ROLES = [role.name for role in Role]

_LOCK = text("SELECT pg_advisory_xact_lock(hashtextextended(:key, 0))")
_FRESH = text(
    """
    INSERT INTO notification_causes (organization_id, cause)
    SELECT :org, cause FROM unnest(CAST(:causes AS uuid[])) AS told (cause)
    ON CONFLICT DO NOTHING RETURNING cause
    """
)
# One row per user, with the numbers of all audiences that include the user. So a hundred news for a
# team of a thousand return a thousand rows.
_REACHED = text(
    """
    WITH terms AS (
        SELECT * FROM unnest(CAST(:numbers AS int[]), CAST(:leasts AS int[]), CAST(:buts AS uuid[]),
            CAST(:alls AS boolean[])) AS one (number, least, but, everybody)
    ), wanted AS (
        SELECT * FROM unnest(CAST(:by_name AS int[]), CAST(:user_ids AS uuid[]))
            AS named (number, user_id)
        UNION
        SELECT given.number, seat.user_id
        FROM unnest(CAST(:by_team AS int[]), CAST(:team_ids AS uuid[])) AS given (number, team_id)
        JOIN team_members seat ON seat.organization_id = :org AND seat.team_id = given.team_id
        UNION
        SELECT terms.number, one.user_id
        FROM terms JOIN memberships one ON one.organization_id = :org
        WHERE terms.everybody
    )
    SELECT users.id, users.locale, users.time_zone, users.notification_preferences AS chosen,
           array_agg(wanted.number ORDER BY wanted.number) AS numbers
    FROM wanted
    JOIN terms USING (number)
    JOIN memberships member ON member.organization_id = :org AND member.user_id = wanted.user_id
    JOIN users ON users.id = wanted.user_id AND users.disabled_at IS NULL
    WHERE array_position(CAST(:roles AS text[]), CAST(member.role AS text)) >= terms.least
      AND wanted.user_id IS DISTINCT FROM terms.but
    GROUP BY users.id ORDER BY users.id
    """
)
# A notification that was read is closed: nothing is added to it, and its email is not sent.
_OPEN = text(
    """
    WITH read AS (
        UPDATE notifications SET open_until = NULL, by_mail = false
        WHERE organization_id = :org AND user_id = ANY(CAST(:user_ids AS uuid[]))
          AND message = ANY(CAST(:messages AS text[])) AND open_until IS NOT NULL
          AND read_at IS NOT NULL
    )
    SELECT user_id, message, id, count AS total, gathered FROM notifications
    WHERE organization_id = :org AND user_id = ANY(CAST(:user_ids AS uuid[]))
      AND message = ANY(CAST(:messages AS text[])) AND open_until IS NOT NULL AND read_at IS NULL
    ORDER BY id FOR NO KEY UPDATE
    """
)
_WRITE = text(
    """
    INSERT INTO notifications (organization_id, id, user_id, message, kind, count, gathered, title,
        body, link, in_app, by_mail, open_until, created_at, updated_at)
    SELECT :org, one.*, now() + make_interval(secs => :window), now(), now()
    FROM unnest(CAST(:ids AS uuid[]), CAST(:user_ids AS uuid[]), CAST(:messages AS text[]),
        CAST(:kinds AS text[]), CAST(:counts AS int[]), CAST(:gathered AS jsonb[]),
        CAST(:titles AS text[]), CAST(:bodies AS text[]), CAST(:links AS text[]),
        CAST(:in_app AS boolean[]), CAST(:by_mail AS boolean[])) AS one
    ON CONFLICT (organization_id, id) DO UPDATE SET count = excluded.count,
        gathered = excluded.gathered, title = excluded.title, body = excluded.body,
        link = excluded.link, in_app = excluded.in_app, by_mail = excluded.by_mail,
        updated_at = excluded.updated_at
    """
)


def lock() -> None:
    """Lock the organization's open notifications until the transaction ends.

    Without the lock, two transactions could open two notifications for the same user.
    """
    key = f"{tenancy.current_organization_id()}/notifications"
    db.session().execute(_LOCK, {"key": key})


def fresh(causes: Iterable[UUID]) -> set[UUID]:
    """Record events as handled and return the ids of those that were not handled before."""
    values = {
        "org": tenancy.current_organization_id(),
        "causes": sorted(str(cause) for cause in causes),
    }
    return set(db.session().execute(_FRESH, values).scalars())


class Audience(NamedTuple):
    """The members to notify: by id, by team, or `everybody`.

    Only members with at least the role `least` are included, and never the user `but`.
    """

    user_ids: Sequence[UUID]
    team_ids: Sequence[UUID]
    everybody: bool
    least: Role
    but: UUID | None


class Reached(NamedTuple):
    """A user, and the indexes of the audiences that include the user.

    `chosen` holds the preferences that differ from the defaults.
    """

    id: UUID
    locale: str
    time_zone: str
    chosen: dict[str, Any]
    numbers: list[int]


def reached(audiences: Sequence[Audience]) -> list[Reached]:
    """Return the users in any of the audiences, each with the audiences, in one statement."""
    named = [(place, one) for place, a in enumerate(audiences) for one in set(a.user_ids)]
    teams = [(place, one) for place, a in enumerate(audiences) for one in set(a.team_ids)]
    values = {
        "org": tenancy.current_organization_id(),
        "roles": _ROLES,
        "numbers": list(range(len(audiences))),
        "leasts": [a.least.value for a in audiences],
        "buts": [None if a.but is None else str(a.but) for a in audiences],
        "alls": [a.everybody for a in audiences],
        "by_name": [place for place, _ in named],
        "user_ids": [str(one) for _, one in named],
        "by_team": [place for place, _ in teams],
        "team_ids": [str(one) for _, one in teams],
    }
    return [Reached(*row) for row in db.session().execute(_REACHED, values)]


class Entry(NamedTuple):
    """An open notification as it is to be written."""

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


class Open(NamedTuple):
    """An open notification as it is stored."""

    id: UUID
    total: int
    gathered: dict[str, Any]


def still_open(user_ids: Iterable[UUID], messages: Iterable[str]) -> dict[tuple[UUID, str], Open]:
    """Lock and return the open notifications of users, by user and message."""
    values = {
        "org": tenancy.current_organization_id(),
        "user_ids": [str(one) for one in user_ids],
        "messages": list(messages),
    }
    rows = db.session().execute(_OPEN, values)
    return {(row.user_id, row.message): Open(row.id, row.total, row.gathered) for row in rows}


def write(entries: Sequence[Entry], *, window: int) -> None:
    """Insert or update open notifications; a new one stays open for `window` seconds."""
    if not entries:
        return
    ids, users, messages, kinds, counts, gathered, titles, bodies, links, in_app, by_mail = zip(
        *entries, strict=True
    )
    values = {
        "org": tenancy.current_organization_id(),
        "window": window,
        "ids": [str(one) for one in ids],
        "user_ids": [str(one) for one in users],
        "messages": list(messages),
        "kinds": list(kinds),
        "counts": list(counts),
        "gathered": [orjson.dumps(one).decode() for one in gathered],
        "titles": list(titles),
        "bodies": list(bodies),
        "links": list(links),
        "in_app": list(in_app),
        "by_mail": list(by_mail),
    }
    db.session().execute(_WRITE, values)


def purge(checkpoint: Callable[[], None]) -> None:
    """Delete the records of handled events whose jobs are gone, one batch per transaction."""
    condition = "created_at < now() - interval '9 days'"
    purging.purge("notification_causes", condition, checkpoint)
