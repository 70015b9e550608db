"""SQL of a team's workload."""

from datetime import datetime
from typing import Any
from uuid import UUID

from sqlalchemy import Row, text

from app.kit import db, tenancy
from app.review.workload.queries import todo

_MEMBERS = text(
    f"""
    WITH {todo.to_label(todo.TEAM, by_team=False)}, {todo.to_review(todo.TEAM)}, due AS (
        SELECT user_id, count(*) FILTER (WHERE label) AS to_label,
               count(*) FILTER (WHERE NOT label) AS to_review,
               count(*) FILTER (WHERE due_at < now()) AS overdue
        FROM (SELECT user_id, due_at, true AS label FROM to_label
              UNION ALL SELECT user_id, due_at, false FROM to_review) AS open
        GROUP BY user_id
    ), done AS (
        SELECT author_id AS user_id, count(*) FILTER (WHERE kind = 'submit') AS labeled,
               count(*) FILTER (WHERE kind <> 'submit') AS reviewed
        FROM tag_set_revisions
        WHERE organization_id = :org AND author_id {todo.TEAM}
         AND kind <> 'save' AND kind IN ('submit', 'accept', 'correction', 'reject')
         AND created_at >= :start AND created_at < :end
        GROUP BY author_id
    )
    SELECT person.id, person.email, person.name,
           CASE WHEN person.id = teams.lead_id THEN 'lead' ELSE 'member' END AS role,
           coalesce(to_label, 0) AS to_label, coalesce(to_review, 0) AS to_review,
           coalesce(overdue, 0) AS overdue,
           coalesce(labeled, 0) AS labeled, coalesce(reviewed, 0) AS reviewed
    FROM teams
    JOIN team_members member ON member.organization_id = :org AND member.team_id = teams.id
    JOIN users person ON person.id = member.user_id
    LEFT JOIN due ON due.user_id = person.id
    LEFT JOIN done ON done.user_id = person.id
    WHERE teams.organization_id = :org AND teams.id = :team_id
    ORDER BY person.id IS DISTINCT FROM teams.lead_id, person.name, person.id
    """  # noqa: S608 - made of the parts above
)
_WAITING = text(
    """
    SELECT count(*) AS open, count(*) FILTER (WHERE document.due_at < now()) AS overdue
    FROM artifact_assignees work
    JOIN artifacts document ON document.organization_id = :org AND document.id = work.artifact_id
    WHERE work.organization_id = :org AND work.assignee_id = :team_id AND work.is_open
     AND CAST(document.label_counts ->> 'draft' AS int) = 0
     AND (document.claim_user_id IS NULL OR document.claim_expires_at <= now())
    """
)


def members(team_id: UUID, *, start: datetime, end: datetime, self_review: bool) -> list[Row[Any]]:
    """Of each member, the lead first: to_label, to_review, overdue, and from `start` up to `end`
    labeled and reviewed."""
    values = {
        "org": tenancy.current_organization_id(),
        "team_id": team_id,
        "start": start,
        "end": end,
        "self_review": self_review,
    }
    return list(db.session().execute(_MEMBERS, values))


def waiting(team_id: UUID) -> Row[Any]:
    """What a team is assigned to and nobody has begun: open, overdue."""
    values = {"org": tenancy.current_organization_id(), "team_id": team_id}
    return db.session().execute(_WAITING, values).one()
