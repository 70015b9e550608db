"""Public functions of the review queue: listing, claiming, assignment and statistics."""

from app.workflow.review_queue.queries.items import expire_claims, prioritize_nearly_due
from app.workflow.review_queue.service.assigning import assign_many, escalate
from app.workflow.review_queue.service.bulk import accept_many, reject_many
from app.workflow.review_queue.service.items import claim, claim_next, get, list_items, release
from app.workflow.review_queue.service.statistics import get_statistics
from app.workflow.review_queue.service.unassigning import (
    end_self_reviews,
    release_demoted_member,
    release_disabled_user,
    unassign_removed_member,
    unassign_team,
)

__all__ = [
    "accept_many",
    "assign_many",
    "claim",
    "claim_next",
    "end_self_reviews",
    "escalate",
    "expire_claims",
    "get",
    "get_statistics",
    "list_items",
    "prioritize_nearly_due",
    "reject_many",
    "release",
    "release_demoted_member",
    "release_disabled_user",
    "unassign_removed_member",
    "unassign_team",
]
