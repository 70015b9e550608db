"""API routes for teams and team members."""

from typing import Any
from uuid import UUID

from app.identity.teams import chart, service
from app.identity.teams.queries import TeamDetails
from app.identity.teams.schemas import (
    AddTeamMembers,
    ChartQuery,
    CreateTeam,
    OrgChart,
    Team,
    TeamFilters,
    TeamSummary,
    UpdateTeam,
)
from app.kit.api.blueprint import Blueprint, Listing
from app.kit.pagination import Page
from app.kit.principal import Caller

blueprint = Blueprint("teams", description="Teams, their members and their work.")
_READING, _MANAGING = "teams:read", "teams:manage"


@blueprint.get(
    "/teams",
    permission=_READING,
    query=Listing(sort_keys=("name", "created_at"), filters=TeamFilters, has_period=True),
    returns=TeamSummary,
)
def list_teams(caller: Caller, query: dict[str, Any]) -> Page:
    """List teams.

    Returns teams without their members. Filters by name, parent, lead, member, skill and creation
    time.
    """
    return service.list_teams(query.pop("page"), query)


@blueprint.post("/teams", permission=_MANAGING, body=CreateTeam, returns=Team, status=201)
def create_team(caller: Caller, body: dict[str, Any]) -> TeamDetails:
    """Create a team.

    A team without a parent is at the top of the tree. The lead becomes the team's first member.
    """
    return service.create(**body)


@blueprint.get("/teams/org-chart", permission=_READING, query=ChartQuery, returns=OrgChart)
def get_org_chart(caller: Caller, query: dict[str, Any]) -> dict[str, Any]:
    """Get the organization chart.

    Returns all teams, or one team and the teams below it, as a tree with leads and members.
    """
    return chart.build_org_chart(**query)


@blueprint.get("/teams/{team_id}", permission=_READING, returns=Team)
def get_team(caller: Caller, team_id: UUID) -> TeamDetails:
    """Get a team.

    Returns the team with its members.
    """
    return service.get(team_id)


@blueprint.patch(
    "/teams/{team_id}", permission=_MANAGING, body=UpdateTeam, returns=Team, revision="optional"
)
def update_team(
    caller: Caller, team_id: UUID, body: dict[str, Any], revision: int | None
) -> TeamDetails:
    """Update a team.

    Changes the name, lead, parent, skills or description. A new lead becomes a member. A team
    cannot be moved below itself.
    """
    return service.update(team_id, revision=revision, changes=body)


@blueprint.delete("/teams/{team_id}", permission=_MANAGING, revision="optional")
def delete_team(caller: Caller, team_id: UUID, revision: int | None) -> None:
    """Delete a team.

    The team's child teams move up to its parent, and its open work is released to the pool. Emits
    `team.deleted`.
    """
    service.delete(team_id, revision=revision, deleted_by=caller.user_id)


@blueprint.post(
    "/teams/{team_id}/members",
    permission=_MANAGING,
    body=AddTeamMembers,
    returns=Team,
    revision="optional",
)
def add_team_members(
    caller: Caller, team_id: UUID, body: dict[str, Any], revision: int | None
) -> TeamDetails:
    """Add team members.

    Adds up to 1,000 members of the organization. Existing team members are not removed.
    `revision` is the revision of the team.
    """
    return service.add_members(team_id, **body, revision=revision)


@blueprint.delete("/teams/{team_id}/members/{user_id}", permission=_MANAGING, revision="optional")
def remove_team_member(caller: Caller, team_id: UUID, user_id: UUID, revision: int | None) -> None:
    """Remove a team member.

    If the user is the lead, the team then has no lead. `revision` is the revision of the team.
    Emits `team.member_removed`.
    """
    service.remove_member(team_id, user_id, revision=revision)
