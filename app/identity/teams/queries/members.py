"""SQL queries of team members."""

from collections.abc import Iterable, Sequence
from uuid import UUID

from sqlalchemy import CursorResult, delete, select, text, update
from sqlalchemy.dialects.postgresql import insert

from app.identity.teams.models import Team, TeamMember
from app.kit import db, tenancy

# Written as plain SQL so that this module need not import the organizations feature, which depends
# on teams.
_OF_ORGANIZATION = text(
    """
    SELECT user_id FROM memberships
    WHERE organization_id = :org AND user_id = ANY(CAST(:user_ids AS uuid[]))
    ORDER BY user_id FOR KEY SHARE
    """
)


def lock_memberships(user_ids: Iterable[UUID]) -> set[UUID]:
    """Return which of the users are members of the organization, and lock their memberships.

    The memberships cannot be deleted until the transaction ends.
    """
    values = {
        "org": tenancy.current_organization_id(),
        "user_ids": [str(user_id) for user_id in user_ids],
    }
    return set(db.session().scalars(_OF_ORGANIZATION, values))


def add(team_ids: Sequence[UUID], user_ids: Iterable[UUID]) -> None:
    """Add each user to each team; existing team members are left unchanged."""
    now, organization_id = db.utc_now(), tenancy.current_organization_id()
    rows = [
        {
            "organization_id": organization_id,
            "team_id": team_id,
            "user_id": user_id,
            "created_at": now,
        }
        for team_id in team_ids
        for user_id in user_ids
    ]
    if rows:
        db.session().execute(insert(TeamMember).values(rows).on_conflict_do_nothing())


def lock(team_id: UUID, user_id: UUID | None = None) -> None:
    """Lock the member rows of a team, or only the row of `user_id`.

    Call this before locking the team itself: it is the order in which the rows are locked when a
    user leaves the organization, so the two cannot deadlock.
    """
    rows = select(TeamMember.user_id).where(TeamMember.team_id == team_id)
    if user_id is not None:
        rows = rows.where(TeamMember.user_id == user_id)
    db.session().execute(rows.order_by(TeamMember.user_id).with_for_update()).all()


def remove(team_id: UUID, user_id: UUID) -> bool:
    """Remove a user from a team, and return false if the user was not a member of it."""
    result = db.session().execute(
        delete(TeamMember)
        .where(TeamMember.team_id == team_id, TeamMember.user_id == user_id)
        .execution_options(synchronize_session=False)
    )
    assert isinstance(result, CursorResult)
    return result.rowcount > 0


def set_lead(team_id: UUID, user_id: UUID) -> None:
    """Set the lead of a newly created team without increasing its revision."""
    db.session().execute(
        update(Team)
        .where(Team.id == team_id)
        .values(lead_id=user_id, updated_at=Team.updated_at)
        .execution_options(synchronize_session=False)
    )
