"""Public functions of assignment, which other features call."""

from app.workflow.assignment.queries.nearly_due import mark as mark_nearly_due
from app.workflow.assignment.service.assignees import (
    Assigned,
    assign_many,
    unassign,
    unassign_unable,
)
from app.workflow.assignment.service.assigning import assign, bulk_assign
from app.workflow.assignment.service.claims import claim, expire_claims, release, release_member
from app.workflow.assignment.service.next_artifact import claim_next

__all__ = [
    "Assigned",
    "assign",
    "assign_many",
    "bulk_assign",
    "claim",
    "claim_next",
    "expire_claims",
    "mark_nearly_due",
    "release",
    "release_member",
    "unassign",
    "unassign_unable",
]
