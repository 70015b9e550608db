"""SQL queries that unassign reviews whose assignee can no longer do them."""

from typing import NamedTuple
from uuid import UUID

from sqlalchemy import TextClause, text

from app.identity.members.eligibility import eligible_members
from app.kit import db, tenancy
from app.kit.permissions import Role
from app.workflow.tag_sets.models import MAKERS

_BATCH = 1000

# The conditions are checked again when an item is locked. Unassignment does not edit the tag set,
# so the revision and `updated_at` do not change.
_RETURN = """
    WITH able AS MATERIALIZED ({able}), unassignable AS (
        SELECT item.id FROM tag_sets item
        WHERE item.organization_id = :org AND item.status = 'submitted' AND {condition}
        ORDER BY item.id LIMIT :batch FOR NO KEY UPDATE
    )
    UPDATE tag_sets item SET assignee_id = NULL, assignee_team_id = NULL
    FROM unassignable WHERE item.organization_id = :org AND item.id = unassignable.id
    RETURNING item.id, item.escalated
"""
_REVIEWERS = f"{eligible_members(Role.reviewer)} WHERE member.organization_id = :org"
_OF_USER = text(
    _RETURN.format(
        able=f"SELECT FROM {_REVIEWERS} AND member.user_id = :user_id",
        condition="""item.assignee_id IS NOT NULL AND item.assignee_id = :user_id
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
                FROM organizations WHERE id = :org), false) AS allows_own""",  # noqa: S608 - constants
        condition=f"""item.assignee_team_id IS NOT NULL AND item.assignee_team_id = :team_id
          AND (SELECT user_ids FROM able) <@ CASE WHEN (SELECT allows_own FROM able)
              THEN '{{}}' ELSE {MAKERS.format(of="item.")} END""",  # noqa: S608 - constants
    )
)


class UnassignedItem(NamedTuple):
    """An item that has no assignee any more."""

    id: UUID
    escalated: bool


def unassign_user(user_id: UUID) -> list[UnassignedItem]:
    """Unassign one batch of items of a user who may not review.

    Returns the items in the order of their ids; an empty list means that no item is left.
    """
    return _unassign(_OF_USER, user_id=user_id)


def unassign_team(team_id: UUID) -> list[UnassignedItem]:
    """Unassign one batch of items of a team in which nobody can review them.

    Returns the same as `unassign_user`.
    """
    return _unassign(_OF_TEAM, team_id=team_id)


def _unassign(statement: TextClause, **assignee: UUID) -> list[UnassignedItem]:
    values = {"org": tenancy.current_organization_id(), "batch": _BATCH, **assignee}
    return sorted(UnassignedItem._make(row) for row in db.session().execute(statement, values))
