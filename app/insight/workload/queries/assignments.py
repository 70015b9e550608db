"""SQL queries for a user's assignments."""

from dataclasses import dataclass
from datetime import datetime
from typing import Any, NamedTuple
from uuid import UUID

from sqlalchemy import BigInteger, ColumnElement, cast, func, literal, select

from app.documents.artifacts.counters import OFFERED
from app.insight.workload.queries import counting, labeling_work
from app.insight.workload.queries.counting import WorkCriteria
from app.kit import db, tenancy
from app.kit.counters import BucketSpan
from app.kit.counters.sql import StatementBuilder
from app.kit.pagination import Page, PageRequest, PageStart, paginate_rows
from app.schemas.artifact_schemas.models import DELETED
from app.workflow.tag_sets import claimable
from app.workflow.tag_sets.claimable import RANK_LEVEL, RANK_STEP, RANK_TIME

# Assignments are sorted by urgency, time and id. Each part of the union is read in the order of an
# index, and only as many rows as a page needs are read.
_SORT_KEY_TYPES = {"rank": int, "at": str, "id": UUID}
_OWN_ARTIFACTS = f"""
    SELECT 'label' AS kind, 100 - own.urgency AS rank, own.at, own.artifact_id AS id,
           own.artifact_id
    FROM own WHERE {labeling_work.OWN_LIST_CONDITION} {{edge}}
"""  # noqa: S608 - made of constants
_OPEN_ASSIGNMENTS = """
    SELECT DISTINCT 'label' AS kind, 100 - document.priority AS rank, document.urgent_at AS at,
           document.artifact_id AS id, document.artifact_id
    FROM assignee_ids
    JOIN user_schemas ON user_schemas.user_id = assignee_ids.user_id
    {due}
    CROSS JOIN LATERAL (
        SELECT work.priority, work.urgent_at, work.artifact_id
        FROM artifact_assignees work
        WHERE work.organization_id = :org AND work.assignee_id = assignee_ids.assignee_id
          AND work.is_open AND work.schema_id = user_schemas.schema_id AND {may_begin} AND {of_team}
          AND (CAST(:due_before AS timestamptz) IS NULL OR work.due_at < :due_before)
          {edge}
        ORDER BY {order} LIMIT :limit
    ) AS document
    WHERE (assignee_ids.by_name OR user_schemas.has_skills)
      AND (CAST(:schema_id AS uuid) IS NULL OR user_schemas.schema_id = :schema_id)
"""
# Excludes assignees and schemas that have no work due before `due_before`.
_DUE_JOIN = """
    JOIN (
        SELECT CAST(assignee_id AS uuid) AS assignee_id, CAST(schema_id AS uuid) AS schema_id
        FROM ({cells}) AS cells WHERE schema_id <> '' GROUP BY 1, 2 HAVING sum(n) > 0
        UNION
        SELECT work.assignee_id, work.schema_id
        FROM assignee_ids JOIN artifact_assignees work ON work.organization_id = :org
         AND work.assignee_id = assignee_ids.assignee_id AND work.is_open
         AND work.due_at > :until AND work.due_at < :due_before
    ) AS due ON due.assignee_id = assignee_ids.assignee_id
     AND due.schema_id = user_schemas.schema_id
"""
_RANK, _AT = RANK_LEVEL.format(of="item."), RANK_TIME.format(of="item.")
_TAG_SETS_TO_REVIEW = f"""
    SELECT 'review' AS kind, {_RANK} AS rank, {_AT} AS at, item.id, item.artifact_id
    FROM (
        SELECT item.id, item.artifact_id, item.review_rank FROM tag_sets item
        WHERE item.organization_id = :org AND {claimable.IN_QUEUE.format(of="item.")}
          AND {{is_mine}}
          AND {claimable.MAY_REVIEW.format(of="item.", self_review=":self_review", user=":me")}
          AND (CAST(:schema_id AS uuid) IS NULL OR item.schema_id = :schema_id)
          AND (CAST(:due_before AS timestamptz) IS NULL OR item.due_at < :due_before)
          {{edge}}
        ORDER BY {{order}} LIMIT :limit
    ) AS item
"""  # noqa: S608 - made of constants
_IS_ASSIGNED = claimable.ASSIGNED.format(of="item.", user=":me")
_IS_CLAIMED = claimable.CLAIMED.format(of="item.", user=":me")
_PAGE = f"""
    WITH {labeling_work.PEOPLE_CTES}, {labeling_work.BEGUN_CTES}, page AS MATERIALIZED (
        SELECT * FROM ({{keys}}) AS page ORDER BY {{order}} LIMIT :limit
    )
    SELECT page.kind, page.rank, CAST(page.at AS text) AS at, page.id,
           document.id AS artifact_id, document.name, document.priority,
           coalesce(item.id, own.tag_set_id) AS tag_set_id,
           schemas.id AS schema_id, schemas.name AS schema_name,
           CASE WHEN item.id IS NULL THEN document.due_at ELSE item.due_at END AS due_at,
           CASE WHEN own.artifact_id IS NOT NULL THEN own.team_id
                WHEN item.id IS NULL AND NOT assignment.by_name THEN assignment.team_id
           END AS team_id,
           CASE WHEN item.id IS NULL AND {claimable.CLAIMED.format(of="document.", user=":me")}
                THEN document.claim_expires_at
                WHEN {_IS_CLAIMED} THEN item.claim_expires_at END AS claimed_until
    FROM page
    LEFT JOIN own ON page.kind = 'label' AND own.artifact_id = page.id
    LEFT JOIN tag_sets item ON page.kind = 'review' AND item.organization_id = :org
     AND item.id = page.id
    JOIN artifacts document ON document.organization_id = :org
     AND document.id = page.artifact_id
    LEFT JOIN schemas ON schemas.organization_id = :org
     AND schemas.id = coalesce(item.schema_id, own.schema_id, document.schema_id)
     AND schemas.status <> '{DELETED}'
    CROSS JOIN LATERAL ({labeling_work.ASSIGNMENT_SUBQUERY.format(user=":me")}) AS assignment
    ORDER BY {{order}}
"""  # noqa: S608 - made of constants


class Assignment(NamedTuple):
    """A document to label or a tag set to review, with the sort keys `rank`, `at` and `id`.

    `at` is text, because the time can be before the year 1, the first year of a Python datetime.
    """

    kind: str
    rank: int
    at: str
    id: UUID
    artifact_id: UUID
    name: str
    priority: int
    tag_set_id: UUID | None
    schema_id: UUID | None
    schema_name: str | None
    due_at: datetime | None
    team_id: UUID | None
    claimed_until: datetime | None


@dataclass(frozen=True)
class WorkTypes:
    """The types of work to list. `has_self_review` includes tag sets that the user labeled."""

    has_labeling: bool
    has_reviews: bool
    has_self_review: bool


def list_assignments(request: PageRequest, criteria: WorkCriteria, work_types: WorkTypes) -> Page:
    """Return a page of assignments of the only user in `criteria`, most urgent first by default."""
    (user_id,) = criteria.user_ids

    def fetch(start: PageStart) -> tuple[list[Any], int | None]:
        if not (work_types.has_labeling or work_types.has_reviews):
            return [], 0
        parameters = {
            **criteria.build_parameters(),
            **start.values,
            "me": user_id,
            "limit": start.limit,
        }
        parameters["self_review"] = work_types.has_self_review
        statement = StatementBuilder(tenancy.current_organization_id())
        sql = _build_sql(start, work_types, _build_due_filter_join(statement, criteria))
        rows = db.session().execute(statement.as_text(sql, parameters))
        assignments = [Assignment._make(row) for row in rows]
        return assignments, _count_assignments(criteria, work_types) if start.is_first else None

    return paginate_rows(request, _SORT_KEY_TYPES, fetch)


def _build_due_filter_join(statement: StatementBuilder, criteria: WorkCriteria) -> str:
    if criteria.daily_counters_until is None:
        return ""
    where = {"assignee_id": counting.ASSIGNEES}
    span = BucketSpan("due", None, criteria.daily_counters_until)
    cells = statement.select_cells(OFFERED, ("assignee_id", "schema_id"), where, span)
    return _DUE_JOIN.format(cells=cells)


def _build_sql(start: PageStart, work_types: WorkTypes, due_join: str) -> str:
    descending = start.descending
    order = ", ".join(f"page.{name}{' DESC' if descending else ''}" for name in _SORT_KEY_TYPES)
    selects = []
    if work_types.has_labeling:
        condition = _build_start_condition(start, "100 - own.urgency", "own.at", "own.artifact_id")
        selects.append(_OWN_ARTIFACTS.format(edge=condition))
        condition = _build_start_condition(
            start, "100 - work.priority", "work.urgent_at", "work.artifact_id"
        )
        if condition:
            condition += f" AND work.priority {'>=' if descending else '<='} 100 - :rank"
        selects.append(
            _OPEN_ASSIGNMENTS.format(
                may_begin=labeling_work.MAY_BEGIN_CONDITION.format(user="assignee_ids.user_id"),
                of_team=labeling_work.TEAM_CONDITION,
                due=due_join,
                edge=condition,
                order="work.priority, work.urgent_at DESC, work.artifact_id DESC"
                if descending
                else "work.priority DESC, work.urgent_at, work.artifact_id",
            )
        )
    if work_types.has_reviews:
        condition = _build_start_condition(start, _RANK, _AT, "item.id")
        if condition:
            bound = f"< (:rank + 1) * {RANK_STEP}" if descending else f">= :rank * {RANK_STEP}"
            condition += f" AND item.review_rank {bound}"
        queue_order = (
            "item.review_rank DESC, item.id DESC" if descending else "item.review_rank, item.id"
        )
        selects += [
            _TAG_SETS_TO_REVIEW.format(is_mine=is_mine, edge=condition, order=queue_order)
            for is_mine in (_IS_ASSIGNED, _IS_CLAIMED)
        ]
    keys = " UNION ALL ".join(
        f"(SELECT * FROM ({select_sql}) AS page ORDER BY {order} LIMIT :limit)"  # noqa: S608 - made of constants
        for select_sql in selects
    )
    return _PAGE.format(keys=keys, order=order)


def _build_start_condition(start: PageStart, rank: str, at: str, identifier: str) -> str:
    if start.is_first:
        return ""
    sign = "<" if start.descending else ">"
    return (
        f"AND ({rank}, {at}, {identifier})"
        f" {sign} (CAST(:rank AS int), CAST(:at AS timestamptz), CAST(:id AS uuid))"
    )


def _count_assignments(criteria: WorkCriteria, work_types: WorkTypes) -> int:
    subqueries = []
    if work_types.has_labeling:
        subqueries.append(counting.build_labeling_counts(criteria))
    if work_types.has_reviews:
        subqueries.append(
            counting.build_review_counts(criteria, self_review=work_types.has_self_review)
        )
    total: ColumnElement[int] = literal(0)
    for subquery in subqueries:
        total += select(func.coalesce(func.sum(subquery.c.n), 0)).scalar_subquery()
    return int(db.session().execute(select(cast(total, BigInteger))).scalar_one())
