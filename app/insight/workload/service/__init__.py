"""Public functions of workload: assignments, activity and team workloads."""

from app.insight.workload.service.activity import activity
from app.insight.workload.service.assignments import list_assignments
from app.insight.workload.service.teams import team_workload

__all__ = ["activity", "list_assignments", "team_workload"]
