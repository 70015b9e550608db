"""SQL queries that assign many artifacts, selected by id or filter, in one statement."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any, NamedTuple
from typing import cast as cast_type
from uuid import UUID

from sqlalchemy import (
    ColumnElement,
    Integer,
    Select,
    String,
    Table,
    Uuid,
    case,
    cast,
    delete,
    distinct,
    func,
    literal,
    literal_column,
    or_,
    select,
    text,
    true,
    update,
)
from sqlalchemy.dialects.postgresql import ARRAY, JSONB

from app.documents.artifacts.models import URGENCY, URGENT_AT, Artifact, ArtifactSkip
from app.documents.artifacts.statuses import CLOSED
from app.identity.members.eligibility import eligible_members
from app.kit import db, tenancy
from app.kit.permissions import Role

LISTED = 1000
"""Maximum number of artifact ids that a result lists."""

_URGENCY: ColumnElement[int] = literal_column(URGENCY.format(of="artifacts."), Integer)
_URGENT_AT: ColumnElement[Any] = literal_column(URGENT_AT.format(of="artifacts."))

_DOCUMENTS = cast_type("Table", Artifact.__table__)
_SKIPS = cast_type("Table", ArtifactSkip.__table__)

# The least loaded user comes first for each artifact; users with equal loads take turns. The result
# is an array read by index: PostgreSQL cannot estimate numbered rows and might use a nested loop to
# join 100,000 of them.
_TURNS = text(
    """
    SELECT array_agg(user_id ORDER BY load + nth, place) AS people
    FROM unnest(CAST(:users AS uuid[]), CAST(:loads AS int[]), CAST(:quotas AS int[]))
        WITH ORDINALITY AS one (user_id, load, quota, place)
    CROSS JOIN LATERAL generate_series(1, quota) AS nth
    """
).columns(people=ARRAY(Uuid))
_LOADS = text(
    """
    SELECT person.user_id, (
        SELECT count(*) FROM artifact_assignees work
        WHERE work.organization_id = :org AND work.assignee_id = person.user_id AND work.is_open
    ) AS load
    FROM unnest(CAST(:users AS uuid[])) AS person (user_id)
    """
)
_OF_TEAM = text(
    f"""
    SELECT seat.user_id FROM team_members seat
    JOIN ({eligible_members(Role.labeler)}) ON member.organization_id = :org
     AND member.user_id = seat.user_id
    WHERE seat.organization_id = :org AND seat.team_id = :team_id
    ORDER BY seat.user_id FOR SHARE OF member
    """  # noqa: S608 - made of constants
)


class Share(NamedTuple):
    """Number of open artifacts of a user, and the maximum number of additional ones."""

    user_id: UUID
    load: int
    quota: int


class Given(NamedTuple):
    """Result of an assignment.

    `matched` and `written` count the selected and the assigned artifacts. `given` lists the ids of
    the assigned artifacts, and `closed` lists [id, state] of artifacts that cannot be labeled.
    `people` is the number of artifacts per user if each was assigned to one labeler. `resumed`
    lists artifacts with drafts that one of the new assignees had skipped. `changed`, `news` and
    `shares` are the number, the ids and the counts per user of new assignments: artifacts with a
    new assignee, or skipped before by one of the assignees. `given`, `closed` and `news` list at
    most `LISTED` artifacts.
    """

    matched: int
    written: int
    given: list[str]
    closed: list[list[str]]
    people: dict[str, int]
    resumed: list[UUID]
    changed: int
    news: list[str]
    shares: dict[str, int]


def labelers_of(team_id: UUID) -> list[UUID]:
    """Return the team members who may label, locked until the transaction ends."""
    values = {"org": tenancy.current_organization_id(), "team_id": team_id}
    return list(db.session().scalars(_OF_TEAM, values))


def loads(user_ids: Sequence[UUID]) -> dict[UUID, int]:
    """Return the number of open artifacts assigned to each user by name."""
    values = {"org": tenancy.current_organization_id(), "users": [str(one) for one in user_ids]}
    return {row.user_id: row.load for row in db.session().execute(_LOADS, values)}


def give(
    chosen: Select[Any],
    *,
    assignees: list[dict[str, str | None]] | None,
    shares: Sequence[Share] = (),
    due_at: datetime | None = None,
    due: bool = False,
    closed_too: bool = False,
) -> Given:
    """Replace the assignees of the artifacts that `chosen` selects.

    Each artifact gets all `assignees` or, if that is None, one user of `shares`. `due_at` is only
    written if `due` is True. `closed_too` includes artifacts that cannot be labeled. The skips of
    users who are assigned by name are deleted.
    """
    locked = _locked(chosen)
    matched = select(func.count()).select_from(locked).scalar_subquery()
    wanted = true() if closed_too else locked.c.shut.is_(False)
    values, target = _values(locked, wanted, assignees)
    if due:
        values |= _due(due_at)
    written = (
        update(_DOCUMENTS)
        .where(
            _DOCUMENTS.c.organization_id == tenancy.current_organization_id(),
            _DOCUMENTS.c.id == target.c.id,
        )
        .values(**values, updated_at=func.now())
        .returning(_DOCUMENTS.c.id, _DOCUMENTS.c.assignees, _DOCUMENTS.c.label_counts)
        .cte("written")
    )
    summary = select(matched, *_told(locked, written, people=assignees is None))
    return Given(*db.session().execute(summary, _shares(shares)).one())


def _due(due_at: datetime | None) -> dict[str, Any]:
    """Return the new `due_at` and a revision that is incremented if `due_at` changes.

    Clients can edit `due_at`, so its change needs a new revision; a change of assignees does not.
    """
    changed = _DOCUMENTS.c.due_at.is_distinct_from(due_at)
    return {"due_at": due_at, "revision": _DOCUMENTS.c.revision + case((changed, 1), else_=0)}


def _told(locked: Any, written: Any, *, people: bool) -> list[ColumnElement[Any]]:
    closed = select(func.jsonb_build_array(locked.c.id, locked.c.state).label("one"))
    forgotten = _forgotten(written)
    news = _news(locked, written, forgotten)
    return [
        select(func.count()).select_from(written).scalar_subquery(),
        _first(select(cast(written.c.id, String).label("one"))),
        _first(closed.where(locked.c.shut.is_(True))),
        _people(written) if people else literal({}, JSONB),
        _resumed(forgotten),
        select(func.count()).select_from(news).scalar_subquery(),
        _first(select(cast(news.c.id, String).label("one"))),
        _people(news) if people else literal({}, JSONB),
    ]


def _news(locked: Any, written: Any, forgotten: Any) -> Any:
    """Return the artifacts whose assignment is new to at least one assignee.

    A repeated assignment or the removal of other assignees is not new, so that nobody is notified
    of an artifact again. An assignment to a user who had skipped the artifact is new.
    """
    before, after = locked.c.assignees, written.c.assignees
    skipped = select(forgotten.c.artifact_id)
    return (
        select(written.c.id, written.c.assignees)
        .join(locked, locked.c.id == written.c.id)
        .where(or_(~before.contains(after), written.c.id.in_(skipped)))
        .cte("news")
    )


def _locked(chosen: Select[Any]) -> Any:
    """Select the chosen artifacts and lock them in the order of their ids to avoid deadlocks.

    PostgreSQL checks the conditions of `chosen` again after it has locked a row.
    """
    d = Artifact
    return (
        chosen.with_only_columns(
            d.id,
            or_(d.status.in_(CLOSED), d.archived).label("shut"),
            case((d.archived, literal("archived")), else_=d.status).label("state"),
            _URGENCY.label("urgency"),
            _URGENT_AT.label("urgent_at"),
            d.assignees,
        )
        .where(d.organization_id == tenancy.current_organization_id())
        .order_by(d.id)
        .with_for_update(key_share=True)
        .cte("locked")
    )


def _forgotten(written: Any) -> Any:
    """Delete the skips of users who are now assigned by name."""
    skip = _SKIPS.c
    named = func.jsonb_build_array(func.jsonb_build_object("user_id", skip.user_id))
    return (
        delete(_SKIPS)
        .where(
            skip.organization_id == tenancy.current_organization_id(),
            skip.artifact_id == written.c.id,
            written.c.assignees.contains(named),
        )
        .returning(skip.artifact_id, written.c.label_counts)
        .cte("forgotten")
    )


def _resumed(forgotten: Any) -> ColumnElement[Any]:
    ids = func.array_agg(distinct(forgotten.c.artifact_id), type_=ARRAY(Uuid))
    drafts = forgotten.c.label_counts["draft"].astext != "0"
    return func.coalesce(
        select(ids).where(drafts).scalar_subquery(), literal([], ARRAY(Uuid)), type_=ARRAY(Uuid)
    )


def _values(
    locked: Any,
    wanted: ColumnElement[bool],
    assignees: list[dict[str, str | None]] | None,
) -> tuple[dict[str, Any], Any]:
    if assignees is not None:
        return {"assignees": assignees}, select(locked.c.id).where(wanted).cte("target")
    order = (locked.c.urgency.desc(), locked.c.urgent_at, locked.c.id)
    turn = func.row_number().over(order_by=order).label("turn")
    target = select(locked.c.id, turn).where(wanted).cte("target")
    turns = select(_TURNS.subquery().c.people).scalar_subquery()
    person = func.jsonb_build_object("user_id", turns[target.c.turn], "team_id", None)
    return {"assignees": func.jsonb_build_array(person)}, target


def _shares(shares: Sequence[Share]) -> dict[str, Any]:
    if not shares:
        return {}
    users, held, quotas = zip(*shares, strict=True)
    return {"users": [str(one) for one in users], "loads": list(held), "quotas": list(quotas)}


def _first(rows: Select[Any]) -> ColumnElement[Any]:
    some = rows.limit(LISTED).subquery()
    return select(func.coalesce(func.jsonb_agg(some.c.one), literal([], JSONB))).scalar_subquery()


def _people(written: Any) -> ColumnElement[Any]:
    who = written.c.assignees[0]["user_id"].astext
    counted = select(who.label("who"), func.count().label("n")).group_by(who).subquery()
    return select(
        func.coalesce(func.jsonb_object_agg(counted.c.who, counted.c.n), literal({}, JSONB))
    ).scalar_subquery()
