"""Workload of a team."""

from datetime import date
from typing import Any
from uuid import UUID

from app.identity.organizations import service as organizations
from app.identity.users import service as users
from app.insight.workload.queries import teams as queries
from app.insight.workload.queries.teams import Member, MemberWork
from app.kit import db, errors
from app.kit.days import get_period
from app.kit.principal import Caller


def get_team_workload(
    team_id: UUID, *, caller: Caller, first: date | None = None, last: date | None = None
) -> dict[str, Any]:
    """Return the open, overdue and finished work of each member of a team.

    A member's open work is what they are assigned to by name or have begun, in this team or not.
    Work that is assigned to the team as a whole and that nobody has begun is `waiting`. Finished
    work is what members submitted and decided from day `first` to day `last`, in the caller's time
    zone. Raises 404; 400 on the period.
    """
    members = queries.list_members(team_id)
    if members is None:
        raise errors.not_found()
    period = get_period(users.get_time_zone(caller.user_id), first, last)
    now = db.utc_now()
    counts = queries.count_work(
        [member.id for member in members],
        now=now,
        start=period.edges[0],
        end=period.edges[-1],
        self_review=organizations.allows_self_review(caller.org.settings),
    )
    workloads = [_build_workload(member, counts[member.id]) for member in members]
    waiting = queries.count_not_begun(team_id, now=now)._asdict()
    return {
        "team_id": team_id,
        "time_zone": period.zone,
        "first": period.first,
        "last": period.last,
        "members": workloads,
        "waiting": waiting,
        "totals": {
            "open": waiting["open"] + sum(workload["open"] for workload in workloads),
            "overdue": waiting["overdue"] + sum(workload["overdue"] for workload in workloads),
            "finished": sum(workload["finished"] for workload in workloads),
        },
    }


def _build_workload(member: Member, counts: MemberWork) -> dict[str, Any]:
    return {
        "user": {"id": member.id, "email": member.email, "name": member.name},
        "role": member.role,
        "open": counts.to_label + counts.to_review,
        "overdue": counts.overdue,
        "finished": counts.labeled + counts.reviewed,
        "to_label": counts.to_label,
        "to_review": counts.to_review,
        "labeled": counts.labeled,
        "reviewed": counts.reviewed,
    }
