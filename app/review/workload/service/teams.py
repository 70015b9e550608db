"""A team's workload."""

from datetime import date
from typing import Any
from uuid import UUID

from app.kit import errors
from app.kit.principal import Caller
from app.review.workload.queries import people
from app.review.workload.queries import teams as queries
from app.review.workload.service import period
from app.review.workload.service.assignments import allows_self_review


def team_workload(
    team_id: UUID, *, caller: Caller, first: date | None = None, last: date | None = None
) -> dict[str, Any]:
    """Open, overdue and finished work of each member of a team, and what waits for any of them.

    A member's open work is what stands in their own list by name: whatever it was assigned through,
    and not what is assigned to the team as a whole and begun by nobody, which is `waiting`.
    Finished is what they submitted and decided from day `first` to day `last`, in the caller's
    time zone. Raises 404; 400 on the period.
    """
    if not people.is_team(team_id):
        raise errors.not_found()
    asked = period.of_user(caller.user_id, first, last)
    edges = asked.edges
    rows = queries.members(
        team_id, start=edges[0], end=edges[-1], self_review=allows_self_review(caller)
    )
    members = [_member(row) for row in rows]
    waiting = queries.waiting(team_id)._asdict()
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


def _member(row: Any) -> dict[str, Any]:
    return {
        "user": {"id": row.id, "email": row.email, "name": row.name},
        "role": row.role,
        "open": row.to_label + row.to_review,
        "overdue": row.overdue,
        "finished": row.labeled + row.reviewed,
        "to_label": row.to_label,
        "to_review": row.to_review,
        "labeled": row.labeled,
        "reviewed": row.reviewed,
    }
