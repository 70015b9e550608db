"""Public functions of workload: assignments, activity and team workloads."""

from app.insight.workload.service.activity import get_activity
from app.insight.workload.service.assignments import list_assignments
from app.insight.workload.service.teams import get_team_workload

__all__ = ["get_activity", "get_team_workload", "list_assignments"]
