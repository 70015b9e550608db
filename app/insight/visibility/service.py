"""Determine the labelers and teams whose metrics and reports a caller may see."""

from collections.abc import Sequence
from typing import NamedTuple
from uuid import UUID

from sqlalchemy import select

from app.identity.teams.models import TeamMember
from app.kit import db, errors
from app.kit.permissions import Role
from app.kit.principal import Caller


class Visibility(NamedTuple):
    """The labelers and the teams whose metrics a caller may see; None means all."""

    labeler_ids: Sequence[UUID] | None
    team_ids: Sequence[UUID] | None

    def has_labeler(self, user_id: UUID) -> bool:
        """Return whether the caller may see the metrics of this labeler."""
        return self.labeler_ids is None or user_id in self.labeler_ids

    def check_labeler(self, user_id: UUID) -> None:
        """Raise 403 if the caller may not see the metrics of this labeler."""
        if not self.has_labeler(user_id):
            raise errors.denied("You may not see the metrics of this labeler.")

    def check_team(self, team_id: UUID) -> None:
        """Raise 403 if the caller may not see the metrics of this team."""
        if self.team_ids is not None and team_id not in self.team_ids:
            raise errors.denied("You may not see the metrics of this team.")


def get_visibility(caller: Caller) -> Visibility:
    """Return the labelers and teams whose metrics the caller may see.

    Administrators see all labelers and teams. Reviewers see their teams and the members of these
    teams; reviewers without a team see all labelers and teams, because they review the work of all
    labelers. Other users see only their own metrics. An API key with at least the reviewer
    role sees all labelers and teams; other API keys see no labelers or teams.
    """
    if caller.has_role(Role.admin) or (
        caller.has_role(Role.reviewer) and caller.api_key_id is not None
    ):
        return Visibility(None, None)
    if not caller.has_role(Role.reviewer):
        return Visibility([] if caller.api_key_id is not None else [caller.user_id], [])
    team_ids = _list_team_ids(caller.user_id)
    if not team_ids:
        return Visibility(None, None)
    return Visibility(_list_member_ids(team_ids), team_ids)


def _list_team_ids(user_id: UUID) -> list[UUID]:
    statement = select(TeamMember.team_id).where(TeamMember.user_id == user_id)
    return sorted(set(db.session().scalars(statement)))


def _list_member_ids(team_ids: Sequence[UUID]) -> list[UUID]:
    """Return the user ids of the members of these teams, without duplicates."""
    statement = select(TeamMember.user_id).where(TeamMember.team_id.in_(team_ids))
    return sorted(set(db.session().scalars(statement)))
