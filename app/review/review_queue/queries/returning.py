"""SQL of reviews that wait for somebody who is not there to do them."""

from collections.abc import Sequence
from typing import Any
from uuid import UUID

from sqlalchemy import Row, text

from app.kit import db, tenancy
from app.kit.permissions import Role
from app.labeling.tag_sets.models import MAKERS

_BATCH = 1000
_ROLES = [role.name for role in Role if role >= Role.reviewer]

# Whether somebody is there is looked at as it is now, and once more for each item when it is
# locked. None of it changes the label set: no revision is raised, and its `updated_at` stays.
_RETURN = """
    WITH stranded AS (
        SELECT item.id FROM tag_sets item
        WHERE item.organization_id = :org AND item.status = 'submitted' AND {waits}
        ORDER BY item.id LIMIT :batch FOR NO KEY UPDATE
    )
    UPDATE tag_sets item SET assignee_id = NULL, assignee_team_id = NULL
    FROM stranded WHERE item.organization_id = :org AND item.id = stranded.id
    RETURNING item.id, item.escalated
"""
_OF_USER = text(
    _RETURN.format(
        waits="""item.assignee_id IS NOT NULL AND item.assignee_id = :user_id
          AND NOT EXISTS (
              SELECT FROM memberships member
              WHERE member.organization_id = :org AND member.user_id = :user_id
                AND member.role = ANY(CAST(:roles AS text[])))"""
    )
)
# A team that has nobody but those whose own work it is has nobody for it.
_OF_TEAM = text(
    _RETURN.format(
        waits=f"""item.assignee_team_id IS NOT NULL AND item.assignee_team_id = :team_id
          AND NOT EXISTS (
              SELECT FROM team_members seat
              JOIN memberships member ON member.organization_id = :org
               AND member.user_id = seat.user_id AND member.role = ANY(CAST(:roles AS text[]))
              JOIN users ON users.id = seat.user_id AND users.disabled_at IS NULL
              WHERE seat.organization_id = :org AND seat.team_id = :team_id
                AND (seat.user_id <> ALL ({MAKERS.format(of="item.")}) OR coalesce((
                    SELECT settings -> 'allow_self_review' = 'true'
                    FROM organizations WHERE id = :org), false)))"""  # noqa: S608 - made of constants
    )
)


def of_user(user_id: UUID) -> Sequence[Row[Any]]:
    """Give back some of what is assigned to somebody who does not review here: (id, escalated) of
    each, in the order of their ids; [] when all is."""
    return _rows(_OF_USER, user_id=user_id)


def of_team(team_id: UUID) -> Sequence[Row[Any]]:
    """The same of what is assigned to a team in which nobody can review it."""
    return _rows(_OF_TEAM, team_id=team_id)


def _rows(statement: Any, **whose: UUID) -> Sequence[Row[Any]]:
    values = {"org": tenancy.current_organization_id(), "roles": _ROLES, "batch": _BATCH, **whose}
    return sorted(db.session().execute(statement, values))
