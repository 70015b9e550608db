"""Public functions for assigning, claiming and releasing artifacts."""

from app.workflow.assignment.queries.assignees import ArtifactAssignment, count_open_artifacts
from app.workflow.assignment.queries.claims import expire_claims, mark_nearly_due
from app.workflow.assignment.service.assigning import (
    assign,
    bulk_assign,
    update_assignments,
)
from app.workflow.assignment.service.claims import claim, claim_next, release, release_all_claims
from app.workflow.assignment.service.recipients import (
    LabelerPool,
    build_no_member_error,
    lock_team_members,
    lock_users,
)
from app.workflow.assignment.service.unassigning import unassign

__all__ = [
    "ArtifactAssignment",
    "LabelerPool",
    "assign",
    "build_no_member_error",
    "bulk_assign",
    "claim",
    "claim_next",
    "count_open_artifacts",
    "expire_claims",
    "lock_team_members",
    "lock_users",
    "mark_nearly_due",
    "release",
    "release_all_claims",
    "unassign",
    "update_assignments",
]
