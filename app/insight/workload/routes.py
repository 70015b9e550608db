"""Routes for team workloads, and for the caller's assignments and activity."""

from typing import Any
from uuid import UUID

from app.insight.workload import service
from app.insight.workload.schemas import (
    Activity,
    Assignment,
    AssignmentFilters,
    PeriodQuery,
    TeamWorkload,
)
from app.kit.api.blueprint import Blueprint, Listing
from app.kit.pagination import Page
from app.kit.principal import Caller

blueprint = Blueprint("workload", tag="teams")
my_work_blueprint = Blueprint("my-work", tag="users")


@blueprint.get(
    "/teams/{team_id}/workload",
    permission="workload:read",
    query=PeriodQuery,
    returns=TeamWorkload,
)
def get_team_workload(caller: Caller, team_id: UUID, query: dict[str, Any]) -> object:
    """Get the workload of a team.

    Returns the open and overdue work of each member, the work that each member finished in the
    period, and the work assigned to the team that nobody has begun.
    """
    return service.get_team_workload(team_id, caller=caller, **query)


@my_work_blueprint.get(
    "/users/me/assignments",
    permission="assignments:read",
    query=Listing(sort_keys=("urgency",), filters=AssignmentFilters),
    returns=Assignment,
)
def list_my_assignments(caller: Caller, query: dict[str, Any]) -> Page:
    """List the caller's assignments.

    Lists the documents to label and the tag sets to review, most urgent first.
    """
    return service.list_assignments(caller=caller, **query)


@my_work_blueprint.get(
    "/users/me/activity", permission="activity:read", query=PeriodQuery, returns=Activity
)
def get_my_activity(caller: Caller, query: dict[str, Any]) -> object:
    """Get the caller's activity.

    Returns the number of submissions and of review decisions per day, the acceptance rate, and the
    labeling speed.
    """
    return service.get_activity(caller=caller, **query)
