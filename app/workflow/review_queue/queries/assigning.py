"""SQL queries that find possible reviewers and assign many reviews in one statement."""

from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Any
from uuid import UUID

from sqlalchemy import Row, select, text

from app.identity.members.eligibility import lock_eligible
from app.identity.teams.models import TeamMember
from app.kit import db, tenancy
from app.kit.permissions import Role
from app.workflow.tag_sets.models import MAKERS

_LOCK = text(
    f"""
    SELECT id, {MAKERS.format(of="tag_sets.")} AS makers, review_rank, claim_expires_at,
           assignee_id, assignee_team_id,
           CASE WHEN claim_expires_at > now() THEN claim_user_id END AS claimed_by
    FROM tag_sets
    WHERE organization_id = :org AND id = ANY (CAST(:ids AS uuid[])) AND status = 'submitted'
    ORDER BY id FOR NO KEY UPDATE
    """  # noqa: S608 - made of constants
)
# A null `due_at` leaves the due time unchanged; a trigger keeps the position in the queue. A claim
# is kept if it belongs to the new assignee.
_ASSIGN = text(
    """
    UPDATE tag_sets item SET
        assignee_id = given.user_id, assignee_team_id = :team_id,
        review_due_at = coalesce(CAST(:due_at AS timestamptz), item.review_due_at),
        claim_user_id = CASE WHEN given.keeps THEN item.claim_user_id END,
        claim_expires_at = CASE WHEN given.keeps THEN item.claim_expires_at END
    FROM unnest(CAST(:ids AS uuid[]), CAST(:user_ids AS uuid[]), CAST(:keeps AS boolean[]))
        AS given (id, user_id, keeps)
    WHERE item.organization_id = :org AND item.id = given.id
    """
)


def reviewers_of_team(team_id: UUID) -> set[UUID]:
    """Return the team members who may review, locked until the transaction ends.

    The lock ensures that the removal of a member runs after this assignment and also unassigns it.
    Members are locked before team members, and these before teams, as in the removal of a member.
    """
    theirs = select(TeamMember.user_id).where(TeamMember.team_id == team_id)
    able = lock_eligible(db.session().scalars(theirs), Role.reviewer)
    seats = theirs.where(TeamMember.user_id.in_(able)).order_by(TeamMember.user_id)
    return set(db.session().scalars(seats.with_for_update(read=True)))


def lock(item_ids: Iterable[UUID]) -> list[Row[Any]]:
    """Lock the pending items among the given ids, in the order of their ids, and return them."""
    values = {"org": tenancy.current_organization_id(), "ids": [str(one) for one in item_ids]}
    return list(db.session().execute(_LOCK, values))


def assign(
    given: Mapping[UUID, UUID | None],
    *,
    team_id: UUID | None,
    due_at: datetime | None,
    keep_claims: set[UUID],
) -> None:
    """Assign locked items and end the claims of all items not in `keep_claims`.

    `given` maps item ids to user ids, or to None if all items are assigned to `team_id`.
    """
    values = {
        "org": tenancy.current_organization_id(),
        "ids": [str(one) for one in given],
        "user_ids": [None if one is None else str(one) for one in given.values()],
        "keeps": [one in keep_claims for one in given],
        "team_id": team_id,
        "due_at": due_at,
    }
    db.session().execute(_ASSIGN, values)
