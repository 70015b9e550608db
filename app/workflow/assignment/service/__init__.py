"""Public functions of assignment, which other features call."""

from app.workflow.assignment.queries.assignees import Assigned, count_open_artifacts
from app.workflow.assignment.queries.claims import expire as expire_claims
from app.workflow.assignment.queries.claims import mark_nearly_due
from app.workflow.assignment.service.assigning import (
    assign,
    assign_many,
    bulk_assign,
    unassign,
    unassign_unable,
)
from app.workflow.assignment.service.claims import claim, claim_next, release, release_member
from app.workflow.assignment.service.recipients import (
    LabelerPool,
    build_no_member_error,
    check_team,
    lock_team,
    lock_users,
)

__all__ = [
    "Assigned",
    "LabelerPool",
    "assign",
    "assign_many",
    "build_no_member_error",
    "bulk_assign",
    "check_team",
    "claim",
    "claim_next",
    "count_open_artifacts",
    "expire_claims",
    "lock_team",
    "lock_users",
    "mark_nearly_due",
    "release",
    "release_member",
    "unassign",
    "unassign_unable",
]
