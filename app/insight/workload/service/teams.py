"""Workload of a team."""

from datetime import date
from typing import Any
from uuid import UUID

from app.identity.users import service as users
from app.insight.workload.queries import teams as queries
from app.insight.workload.service.assignments import allows_self_review
from app.kit import db, errors
from app.kit.days import get_period
from app.kit.principal import Caller


def team_workload(
    team_id: UUID, *, caller: Caller, first: date | None = None, last: date | None = None
) -> dict[str, Any]:
    """Return the open, overdue and finished work of each member of a team.

    A member's open work is what they are assigned to by name or have begun, in this team or not.
    Work that is assigned to the team as a whole and that nobody has begun is `waiting`. Finished
    work is what members submitted and decided from day `first` to day `last`, in the caller's time
    zone. Raises 404; 400 on the period.
    """
    rows = queries.members(team_id)
    if rows is None:
        raise errors.not_found()
    asked = get_period(users.get_time_zone(caller.user_id), first, last)
    edges = asked.edges
    now = db.utc_now()
    numbers = queries.numbers(
        [row.id for row in rows],
        now=now,
        start=edges[0],
        end=edges[-1],
        self_review=allows_self_review(caller),
    )
    members = [_member(row, numbers[row.id]) for row in rows]
    waiting = queries.waiting(team_id, now=now)._asdict()
    return {
        "team_id": team_id,
        "time_zone": asked.zone,
        "first": asked.first,
        "last": asked.last,
        "members": members,
        "waiting": waiting,
        "totals": {
            "open": waiting["open"] + sum(one["open"] for one in members),
            "overdue": waiting["overdue"] + sum(one["overdue"] for one in members),
            "finished": sum(one["finished"] for one in members),
        },
    }


def _member(row: Any, numbers: Any) -> dict[str, Any]:
    return {
        "user": {"id": row.id, "email": row.email, "name": row.name},
        "role": row.role,
        "open": numbers.to_label + numbers.to_review,
        "overdue": numbers.overdue,
        "finished": numbers.labeled + numbers.reviewed,
        "to_label": numbers.to_label,
        "to_review": numbers.to_review,
        "labeled": numbers.labeled,
        "reviewed": numbers.reviewed,
    }
