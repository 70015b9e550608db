"""List of the caller's assignments."""

from dataclasses import replace
from datetime import datetime
from typing import Any
from uuid import UUID

from app.identity.organizations import service as organizations
from app.insight.workload.queries import assignments as queries
from app.insight.workload.queries.assignments import Assignment
from app.insight.workload.queries.counting import WorkCriteria
from app.kit import db
from app.kit.pagination import Page, PageRequest
from app.kit.permissions import Role
from app.kit.principal import Caller


def list_assignments(
    *,
    caller: Caller,
    page: PageRequest,
    kind: str | None = None,
    schema_id: UUID | None = None,
    team_id: UUID | None = None,
    due_before: datetime | None = None,
) -> Page:
    """List what the caller has to label or review, most urgent first.

    The order is that of the review queue: by the priority of the document, then by due time or, if
    there is none, by age. To label are drafts, claims, and documents assigned to the caller or one
    of their teams that they can begin now. To review are tag sets that are assigned to the caller
    or claimed by them. `kind` is label or review. With `team_id`, only documents assigned to the
    caller through this team are listed.
    """
    criteria = WorkCriteria(
        [caller.user_id],
        by_team=True,
        schema_id=schema_id,
        team_id=team_id,
        due_before=due_before,
    )
    reviews = caller.has(Role.reviewer) and kind != "label" and team_id is None
    kinds = queries.Kinds(
        kind != "review", reviews, organizations.allows_self_review(caller.org.settings)
    )
    assignments = queries.get_page(page, criteria, kinds)
    now = db.utc_now()
    return replace(assignments, items=[_build_item(row, now) for row in assignments.items])


def _build_item(row: Assignment, now: datetime) -> dict[str, Any]:
    schema = None
    if row.schema_name is not None:
        schema = {"id": row.schema_id, "name": row.schema_name}
    return {
        "id": row.id,
        "kind": row.kind,
        "artifact": {"id": row.artifact_id, "name": row.name},
        "schema": schema,
        "tag_set_id": row.tag_set_id,
        "team_id": row.team_id,
        "priority": row.priority,
        "due_at": row.due_at,
        "overdue": row.due_at is not None and row.due_at < now,
        "claimed_until": row.claimed_until,
    }
