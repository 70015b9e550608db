"""teams: a tree of teams, and who is in them."""

from typing import Any
from uuid import UUID

from app.identity.teams import service
from app.identity.teams.schemas import (
    AddTeamMembers,
    ChartQuery,
    CreateTeam,
    OrgChart,
    Team,
    TeamFilters,
    TeamListed,
    UpdateTeam,
)
from app.kit.api.blueprint import Blueprint, Listing
from app.kit.principal import Caller

blueprint = Blueprint("teams", description="Teams, who is in them, and what they have to do.")
_READ, _MANAGE = "teams:read", "teams:manage"


@blueprint.get(
    "/teams",
    permission=_READ,
    query=Listing(sorts=("name", "created_at"), filters=TeamFilters),
    returns=TeamListed,
)
def list_teams(caller: Caller, query: dict[str, Any]) -> Any:
    """List teams; filters by name, parent, lead, member and skill."""
    return service.list_teams(**query)


@blueprint.post("/teams", permission=_MANAGE, body=CreateTeam, returns=Team, status=201)
def create_team(caller: Caller, body: dict[str, Any]) -> Any:
    """Create a team, under a parent team if wanted; its lead becomes its first member."""
    return service.create(**body)


@blueprint.get("/teams/org-chart", permission=_READ, query=ChartQuery, returns=OrgChart)
def get_org_chart(caller: Caller, query: dict[str, Any]) -> Any:
    """The teams as a tree with leads and members; all of it, or what stands under one team."""
    return service.org_chart(**query)


@blueprint.get("/teams/{team_id}", permission=_READ, returns=Team)
def get_team(caller: Caller, team_id: UUID) -> Any:
    """Read one team with its members."""
    return service.get(team_id)


@blueprint.patch(
    "/teams/{team_id}", permission=_MANAGE, body=UpdateTeam, returns=Team, revision="optional"
)
def update_team(caller: Caller, team_id: UUID, body: dict[str, Any], revision: int | None) -> Any:
    """Change name, lead, parent, skills or description; a team never stands under itself."""
    return service.update(team_id, revision=revision, changes=body)


@blueprint.delete("/teams/{team_id}", permission=_MANAGE, revision="optional")
def delete_team(caller: Caller, team_id: UUID, revision: int | None) -> None:
    """Delete a team: teams under it move up, its open work goes back to the pool."""
    service.delete(team_id, revision=revision, deleted_by=caller.user_id)


@blueprint.post("/teams/{team_id}/members", permission=_MANAGE, body=AddTeamMembers, returns=Team)
def add_team_members(caller: Caller, team_id: UUID, body: dict[str, Any]) -> Any:
    """Add up to 1,000 members of the organization; who is in the team already stays."""
    return service.add_members(team_id, **body)


@blueprint.delete("/teams/{team_id}/members/{user_id}", permission=_MANAGE)
def remove_team_member(caller: Caller, team_id: UUID, user_id: UUID) -> None:
    """Take a member out of a team; a lead's place is then empty."""
    service.remove_member(team_id, user_id)
