"""SQL queries for a team's workload."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any, NamedTuple
from uuid import UUID

from sqlalchemy import (
    BigInteger,
    ColumnElement,
    Integer,
    Select,
    Subquery,
    Text,
    Uuid,
    case,
    cast,
    func,
    select,
    text,
)

from app.documents.artifacts.counters import OFFERED
from app.documents.artifacts.models.people import ArtifactAssignee
from app.identity.teams.models import Team, TeamMember
from app.identity.users.models import User
from app.insight.workload.queries import counting
from app.insight.workload.queries.counting import WorkCriteria
from app.kit import counters, db, tenancy
from app.kit.counters import Between
from app.workflow.tag_sets.counters import WORK
from app.workflow.tag_sets.models import TagSetRevision

_FINISHED_KINDS = ("submit", "accept", "correction", "reject")


class Member(NamedTuple):
    """A member of a team; `role` is lead or member."""

    id: UUID
    email: str
    name: str
    role: str


class MemberWork(NamedTuple):
    """The counts of a user's open, overdue and finished work.

    `to_label` and `to_review` count the work that is assigned directly to the user or that the user
    has begun; `overdue` counts the overdue part of this work. `labeled` and `reviewed` count
    submissions and decisions.
    """

    user_id: UUID
    to_label: int
    to_review: int
    overdue: int
    labeled: int
    reviewed: int


class PendingWorkCounts(NamedTuple):
    """The counts of a team's open and overdue documents that nobody has begun."""

    open: int
    overdue: int


def list_members(team_id: UUID) -> list[Member] | None:
    """Return the members of a team, lead first, or None if the team does not exist."""
    is_lead = TeamMember.user_id == Team.lead_id
    role = case((is_lead, "lead"), else_="member").label("role")
    statement = (
        select(User.id, User.email, User.name, role)
        .select_from(Team)
        .outerjoin(TeamMember, TeamMember.team_id == Team.id)
        .outerjoin(User, User.id == TeamMember.user_id)
        .where(Team.id == team_id)
        .order_by(func.coalesce(is_lead, False).desc(), User.name, User.id)
    )
    rows = db.session().execute(statement).all()
    return [Member._make(row) for row in rows if row.id is not None] if rows else None


def count_work(
    user_ids: Sequence[UUID], *, now: datetime, start: datetime, end: datetime, self_review: bool
) -> dict[UUID, MemberWork]:
    """Count the work of each user, by user id.

    Work is overdue if it is due before `now`. Finished work is counted from `start` until `end`,
    exclusive. With `self_review`, users also have to review tag sets that they labeled.
    """
    all_work, overdue_work = WorkCriteria(user_ids), WorkCriteria(user_ids, due_before=now)
    to_label = counting.build_labeling_counts(all_work)
    to_review = counting.build_review_counts(all_work, self_review=self_review)
    overdue_labels = counting.build_labeling_counts(overdue_work)
    overdue_reviews = counting.build_review_counts(overdue_work, self_review=self_review)
    finished_counts = _build_finished_counts(user_ids, start, end)

    def replace_null(column: ColumnElement[int]) -> ColumnElement[int]:
        return cast(func.coalesce(column, 0), Integer)

    statement: Select[Any] = select(
        to_label.c.user_id,
        replace_null(to_label.c.n).label("to_label"),
        replace_null(to_review.c.n).label("to_review"),
        (replace_null(overdue_labels.c.n) + replace_null(overdue_reviews.c.n)).label("overdue"),
        replace_null(finished_counts.c.labeled).label("labeled"),
        replace_null(finished_counts.c.reviewed).label("reviewed"),
    )
    for part in (to_review, overdue_labels, overdue_reviews, finished_counts):
        statement = statement.outerjoin(part, part.c.user_id == to_label.c.user_id)
    return {row.user_id: MemberWork._make(row) for row in db.session().execute(statement)}


def _build_finished_counts(user_ids: Sequence[UUID], start: datetime, end: datetime) -> Subquery:
    at = TagSetRevision.created_at
    rows: Select[*tuple[Any, ...]] = select(
        cast(TagSetRevision.author_id, Text).label("author_id"), TagSetRevision.kind
    ).where(
        TagSetRevision.organization_id == tenancy.current_organization_id(),
        TagSetRevision.author_id.in_(user_ids),
        TagSetRevision.kind != "save",
        TagSetRevision.kind.in_(_FINISHED_KINDS),
    )
    where = {"author_id": list(user_ids), "kind": list(_FINISHED_KINDS)}
    between = Between("at", at, start, end, rows)
    cells = counters.select_cells_between(WORK, ("author_id", "kind"), where, between)
    labeled_count = case((cells.c.kind == "submit", cells.c.n), else_=0)
    author = cast(cells.c.author_id, Uuid)
    return (
        select(
            author.label("user_id"),
            func.sum(labeled_count).label("labeled"),
            (func.sum(cells.c.n) - func.sum(labeled_count)).label("reviewed"),
        )
        .group_by(author)
        .subquery()
    )


# OFFSET 0 makes the planner look up each document that somebody has begun. Otherwise, it would read
# all begun documents for each document of the team, because it expects only few begun documents.
_BEGUN_DOCUMENTS = """
    SELECT work.artifact_id, work.due_at
    FROM (
        SELECT artifact_id FROM tag_sets WHERE organization_id = :org AND status = 'draft'
        UNION
        SELECT id FROM artifacts
        WHERE organization_id = :org AND claim_user_id IS NOT NULL AND claim_expires_at > now()
    ) AS begun
    CROSS JOIN LATERAL (
        SELECT artifact_id, due_at FROM artifact_assignees
        WHERE organization_id = :org AND artifact_id = begun.artifact_id
          AND assignee_id = :team_id AND is_open
        OFFSET 0
    ) AS work
"""


def count_pending_work(team_id: UUID, *, now: datetime) -> PendingWorkCounts:
    """Count a team's open and overdue documents that nobody has begun.

    The counters give all open documents assigned to the team. Documents that somebody has begun are
    read row by row and subtracted.
    """
    work = ArtifactAssignee
    rows = select(work.artifact_id).where(
        work.organization_id == tenancy.current_organization_id(),
        work.assignee_id == team_id,
        work.is_open,
    )
    where = {"assignee_id": team_id}
    due = Between("due", work.due_at, None, now, rows)
    begun_work = (
        text(_BEGUN_DOCUMENTS)
        .bindparams(org=tenancy.current_organization_id(), team_id=team_id)
        .columns(artifact_id=Uuid(), due_at=work.due_at.type)
        .cte("begun")
    )
    begun_count = select(func.count(begun_work.c.artifact_id)).scalar_subquery()
    overdue_begun_count = select(func.count()).where(begun_work.c.due_at < now).scalar_subquery()
    statement = select(
        cast(counters.build_total(OFFERED, where) - begun_count, BigInteger).label("open"),
        cast(counters.build_total(OFFERED, where, between=due) - overdue_begun_count, BigInteger),
    )
    return PendingWorkCounts._make(db.session().execute(statement).one())
