"""SQL queries that unassign reviews whose assignee can no longer do them."""

from collections.abc import Sequence
from typing import Any
from uuid import UUID

from sqlalchemy import Row, text

from app.identity.members.eligibility import eligible_members
from app.kit import db, tenancy
from app.kit.permissions import Role
from app.workflow.tag_sets.models import MAKERS

_BATCH = 1000

# The conditions are checked again when an item is locked. Unassignment does not edit the tag set,
# so the revision and `updated_at` do not change.
_RETURN = """
    WITH able AS MATERIALIZED ({able}), stranded AS (
        SELECT item.id FROM tag_sets item
        WHERE item.organization_id = :org AND item.status = 'submitted' AND {waits}
        ORDER BY item.id LIMIT :batch FOR NO KEY UPDATE
    )
    UPDATE tag_sets item SET assignee_id = NULL, assignee_team_id = NULL
    FROM stranded WHERE item.organization_id = :org AND item.id = stranded.id
    RETURNING item.id, item.escalated
"""
_REVIEWERS = f"{eligible_members(Role.reviewer)} WHERE member.organization_id = :org"
_OF_USER = text(
    _RETURN.format(
        able=f"SELECT FROM {_REVIEWERS} AND member.user_id = :user_id",
        waits="""item.assignee_id IS NOT NULL AND item.assignee_id = :user_id
          AND NOT EXISTS (SELECT FROM able)""",
    )
)
# A team cannot review an item if all its reviewers made the tag set. The reviewers are selected
# once, because a search of the members of a large team for every item would be slow.
_OF_TEAM = text(
    _RETURN.format(
        able=f"""
            SELECT ARRAY(
                SELECT seat.user_id FROM team_members seat
                WHERE seat.organization_id = :org AND seat.team_id = :team_id
                  AND seat.user_id IN (SELECT member.user_id FROM {_REVIEWERS})
            ) AS user_ids, coalesce((
                SELECT settings -> 'allow_self_review' = 'true'
                FROM organizations WHERE id = :org), false) AS own_too""",  # noqa: S608 - constants
        waits=f"""item.assignee_team_id IS NOT NULL AND item.assignee_team_id = :team_id
          AND (SELECT user_ids FROM able) <@ CASE WHEN (SELECT own_too FROM able)
              THEN '{{}}' ELSE {MAKERS.format(of="item.")} END""",  # noqa: S608 - constants
    )
)


def of_user(user_id: UUID) -> Sequence[Row[Any]]:
    """Unassign one batch of items of a user who may not review.

    Returns (id, escalated) of each item in the order of the ids; an empty list means that no item
    is left.
    """
    return _rows(_OF_USER, user_id=user_id)


def of_team(team_id: UUID) -> Sequence[Row[Any]]:
    """Unassign one batch of items of a team in which nobody can review them.

    Returns the same as `of_user`.
    """
    return _rows(_OF_TEAM, team_id=team_id)


def _rows(statement: Any, **whose: UUID) -> Sequence[Row[Any]]:
    values = {"org": tenancy.current_organization_id(), "batch": _BATCH, **whose}
    return sorted(db.session().execute(statement, values))
