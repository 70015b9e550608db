"""The review queue: submitted label sets, by the priority and the due time of their documents."""

from dataclasses import replace
from datetime import datetime
from typing import Any

from app.kit import db
from app.kit.pagination import Page, PageRequest
from app.labeling.tag_sets import service as tag_sets
from app.review.review_queue import queries


def list_items(*, page: PageRequest, **filters: Any) -> Page:
    """A page of review items. `filters`: schema_id, assignee_id, labeler_id, escalated, flag,
    created_after, created_before."""
    found = queries.page(page, filters=filters)
    now = db.utc_now()
    shown = tag_sets.listed([row.id for row in found.items], page_size=page.page_size)
    # A label set that was deleted between the two statements is no item any more.
    rows = (row for row in found.items if row.id in shown)
    return replace(found, items=[_item(row, shown[row.id], now) for row in rows])


def _item(row: Any, tag_set: Any, now: datetime) -> dict[str, Any]:
    waited = (now - row.submitted_at).total_seconds()
    claim = None
    if row.claimed_by is not None:
        claim = {"user_id": row.claimed_by, "expires_at": row.claim_expires_at}
    return {
        "id": row.id,
        "tag_set": tag_set,
        "artifact": {"id": row.artifact_id, "name": row.artifact_name},
        "schema": {"id": row.schema_id, "name": row.schema_name},
        # The clocks of two machines may differ by a little.
        "age_seconds": max(0, int(waited)),
        "priority": row.priority,
        "due_at": row.due_at,
        "claim": claim,
        "assignee_id": row.assignee_id,
        "escalated": row.escalated,
        "flags": row.flags,
        "created_at": row.created_at,
        "updated_at": row.updated_at,
    }
