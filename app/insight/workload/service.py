"""Assignments and activity of the caller, and workloads of teams."""

from dataclasses import replace
from datetime import date, datetime
from typing import Any, NamedTuple
from uuid import UUID

from app.identity.organizations import service as organizations
from app.identity.users import service as users
from app.insight.workload.queries import activity, assignments, teams
from app.insight.workload.queries.activity import SubmissionCounts
from app.insight.workload.queries.assignments import Assignment, WorkTypes
from app.insight.workload.queries.counting import WorkCriteria
from app.insight.workload.queries.teams import Member, MemberWork, PendingWorkCounts
from app.kit import db, errors
from app.kit.days import get_period
from app.kit.pagination import Page, PageRequest
from app.kit.permissions import Role
from app.kit.principal import Caller

_OUTCOMES = ("accepted", "corrected", "rejected", "merged", "pending")
_COUNT_NAMES = ("submitted", *_OUTCOMES, "seconds_spent")
_SECONDS_PER_HOUR = 3600


class Reference(NamedTuple):
    """The id and the name of an artifact or a schema."""

    id: UUID
    name: str


class AssignedWork(NamedTuple):
    """A document to label or a tag set to review; `overdue` is true after the due time."""

    id: UUID
    kind: str
    artifact: Reference
    schema: Reference | None
    tag_set_id: UUID | None
    team_id: UUID | None
    priority: int
    due_at: datetime | None
    overdue: bool
    claimed_until: datetime | None


class MemberWorkload(NamedTuple):
    """The counts of a member's work. `open` and `finished` are sums of other counts."""

    user: Member
    role: str
    open: int
    overdue: int
    finished: int
    to_label: int
    to_review: int
    labeled: int
    reviewed: int


class WorkloadTotals(NamedTuple):
    """The counts of all work of a team."""

    open: int
    overdue: int
    finished: int


class TeamWorkload(NamedTuple):
    """The work of a team; `waiting` is the work that nobody has begun."""

    team_id: UUID
    time_zone: str
    first: date
    end: date
    members: list[MemberWorkload]
    waiting: PendingWorkCounts
    totals: WorkloadTotals


def list_assignments(
    *,
    caller: Caller,
    page: PageRequest,
    kind: str | None = None,
    schema_id: UUID | None = None,
    team_id: UUID | None = None,
    due_before: datetime | None = None,
) -> Page:
    """List the caller's assignments: the work to label or review, most urgent first.

    The order is that of the review queue: first the work that is overdue or nearly due, by due
    time, and then all other work, by priority and age. Work to label consists of drafts, claims,
    and documents that are assigned to the caller or one of their teams and that the caller can
    begin now. Work to review consists of tag sets that are assigned to the caller or claimed by the
    caller. `kind` is `label`, `review`, or None for both. With `team_id`, only documents with this
    `team_id` in the response are listed, and no tag sets.
    """
    criteria = WorkCriteria(
        [caller.user_id],
        by_team=True,
        schema_id=schema_id,
        team_id=team_id,
        due_before=due_before,
    )
    has_reviews = caller.has_role(Role.reviewer) and kind != "label" and team_id is None
    work_types = WorkTypes(
        has_labeling=kind != "review",
        has_reviews=has_reviews,
        has_self_review=organizations.allows_self_review(caller.org.settings),
    )
    assignment_page = assignments.list_assignments(page, criteria, work_types)
    now = db.utc_now()
    return replace(assignment_page, items=[_build_item(row, now) for row in assignment_page.items])


def _build_item(row: Assignment, now: datetime) -> AssignedWork:
    schema = None
    if row.schema_id is not None and row.schema_name is not None:
        schema = Reference(row.schema_id, row.schema_name)
    return AssignedWork(
        id=row.id,
        kind=row.kind,
        artifact=Reference(row.artifact_id, row.name),
        schema=schema,
        tag_set_id=row.tag_set_id,
        team_id=row.team_id,
        priority=row.priority,
        due_at=row.due_at,
        overdue=row.due_at is not None and row.due_at < now,
        claimed_until=row.claimed_until,
    )


def get_activity(
    *, caller: Caller, first: date | None = None, end: date | None = None
) -> dict[str, Any]:
    """Return the caller's activity: submissions and decisions per day, with rates and speed.

    The period is from day `first` to day `end`, exclusive, in the caller's time zone; days without
    work have zeros. A submission and its outcome are counted on the day of the submission,
    regardless of the day of the decision. The outcomes add up to the submissions. The acceptance
    rate is the fraction of accepted, corrected and rejected submissions that were accepted, with or
    without corrections; `unchanged_rate` is the fraction accepted without corrections. Raises 400
    for an invalid period.
    """
    period = get_period(users.get_time_zone(caller.user_id), first, end)
    submissions_by_day = {
        row.day: row for row in activity.count_submissions(caller.user_id, period.edges)
    }
    reviews_by_day = activity.count_reviews(caller.user_id, period.edges)
    days = [
        {
            "date": day,
            **_build_counts(submissions_by_day.get(number)),
            "reviewed": reviews_by_day.get(number, 0),
        }
        for number, day in enumerate(period.days, start=1)
    ]
    total = submissions_by_day[None]
    totals = {**_build_counts(total), "reviewed": sum(reviews_by_day.values())}
    return {
        "time_zone": period.zone,
        "first": period.first,
        "end": period.end,
        "days": days,
        "totals": totals,
        **_compute_rates(totals),
        **_compute_speed(total),
    }


def _build_counts(row: SubmissionCounts | None) -> dict[str, int]:
    return {name: 0 if row is None else int(getattr(row, name)) for name in _COUNT_NAMES}


def _compute_rates(totals: dict[str, int]) -> dict[str, float | None]:
    acceptances = totals["accepted"] + totals["corrected"]
    decisions = acceptances + totals["rejected"]
    if not decisions:
        return {"acceptance_rate": None, "unchanged_rate": None}
    return {
        "acceptance_rate": acceptances / decisions,
        "unchanged_rate": totals["accepted"] / decisions,
    }


def _compute_speed(total: SubmissionCounts) -> dict[str, float | None]:
    if not total.timed:
        return {"median_seconds": None, "label_sets_per_hour": None}
    return {
        "median_seconds": total.median_seconds,
        "label_sets_per_hour": total.timed * _SECONDS_PER_HOUR / int(total.seconds_spent),
    }


def get_team_workload(
    team_id: UUID, *, caller: Caller, first: date | None = None, end: date | None = None
) -> TeamWorkload:
    """Return a team's workload: the open, overdue and finished work of each member.

    A member's open work is the work that is assigned directly to them or that they have begun, even
    if it is not assigned to this team. Work that is assigned to the team as a whole and that nobody
    has begun is `waiting`. Finished work consists of submissions and decisions from day `first` to
    day `end`, exclusive, in the caller's time zone. Raises 404 for an unknown team, and 400 for an
    invalid period.
    """
    members = errors.require_found(teams.list_members(team_id))
    period = get_period(users.get_time_zone(caller.user_id), first, end)
    now = db.utc_now()
    counts = teams.count_work(
        [member.id for member in members],
        now=now,
        start=period.edges[0],
        end=period.edges[-1],
        self_review=organizations.allows_self_review(caller.org.settings),
    )
    workloads = [_build_workload(member, counts[member.id]) for member in members]
    waiting = teams.count_pending_work(team_id, now=now)
    totals = WorkloadTotals(
        open=waiting.open + sum(workload.open for workload in workloads),
        overdue=waiting.overdue + sum(workload.overdue for workload in workloads),
        finished=sum(workload.finished for workload in workloads),
    )
    return TeamWorkload(team_id, period.zone, period.first, period.end, workloads, waiting, totals)


def _build_workload(member: Member, counts: MemberWork) -> MemberWorkload:
    return MemberWorkload(
        user=member,
        role=member.role,
        open=counts.to_label + counts.to_review,
        overdue=counts.overdue,
        finished=counts.labeled + counts.reviewed,
        to_label=counts.to_label,
        to_review=counts.to_review,
        labeled=counts.labeled,
        reviewed=counts.reviewed,
    )
