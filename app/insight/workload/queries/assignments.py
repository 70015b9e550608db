"""SQL of one person's list."""

from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from sqlalchemy import BigInteger, cast, func, select

from app.documents.artifacts.counters import OFFERED
from app.insight.workload.queries import counting, todo
from app.insight.workload.queries.counting import Wanted
from app.kit import db, tenancy
from app.kit.counters import Span
from app.kit.counters.sql import Statement
from app.kit.pagination import Edge, Page, PageRequest, paginate_rows
from app.workflow.tag_sets.review_ranks import LEVEL, RANK_STEP, TIME

# By urgency, then by time, then by id. Each part is read in the order of an
# index, and no further than a page goes.
_ORDER = {"rank": int, "at": datetime, "id": UUID}
_OWN = """
    SELECT 'label' AS kind, 100 - own.urgency AS rank, own.at, own.artifact_id AS id,
           own.artifact_id
    FROM own WHERE {own_filters}
"""
_OFFERED = """
    SELECT DISTINCT 'label' AS kind, 100 - found.priority AS rank, found.urgent_at AS at,
           found.artifact_id AS id, found.artifact_id
    FROM reach
    JOIN able ON able.user_id = reach.user_id
    {due}
    CROSS JOIN LATERAL (
        SELECT work.priority, work.urgent_at, work.artifact_id
        FROM artifact_assignees work
        WHERE work.organization_id = :org AND work.assignee_id = reach.assignee_id
          AND work.is_open AND work.schema_id = able.schema_id AND {may_begin} AND {of_team}
          AND (CAST(:due_before AS timestamptz) IS NULL OR work.due_at < :due_before)
          {edge}
        ORDER BY {order} LIMIT :limit
    ) AS found
    WHERE (reach.named OR able.skilled)
      AND (CAST(:schema_id AS uuid) IS NULL OR able.schema_id = :schema_id)
"""
# Nothing is looked for where nothing is due in time.
_DUE = """
    JOIN (
        SELECT CAST(assignee_id AS uuid) AS assignee_id, CAST(schema_id AS uuid) AS schema_id
        FROM ({cells}) AS cells WHERE schema_id <> '' GROUP BY 1, 2 HAVING sum(n) > 0
        UNION
        SELECT work.assignee_id, work.schema_id
        FROM reach JOIN artifact_assignees work ON work.organization_id = :org
         AND work.assignee_id = reach.assignee_id AND work.is_open
         AND work.due_at > :until AND work.due_at < :due_before
    ) AS due ON due.assignee_id = reach.assignee_id AND due.schema_id = able.schema_id
"""
_RANK, _AT = LEVEL.format(of="item."), TIME.format(of="item.")
_ITEMS = f"""
    SELECT 'review' AS kind, {_RANK} AS rank, {_AT} AS at, item.id, item.artifact_id
    FROM (
        SELECT item.id, item.artifact_id, item.review_rank FROM tag_sets item
        WHERE item.organization_id = :org AND item.status = 'submitted'
          AND NOT item.artifact_archived AND {{whose}}
          AND (:self_review OR item.labeler_id IS DISTINCT FROM :me)
          AND (CAST(:schema_id AS uuid) IS NULL OR item.schema_id = :schema_id)
          AND (CAST(:due_before AS timestamptz) IS NULL OR item.due_at < :due_before)
          {{edge}}
        ORDER BY {{order}} LIMIT :limit
    ) AS item
"""  # noqa: S608 - made of constants
_ASSIGNED = (
    "item.assignee_id IS NOT NULL AND item.assignee_id = :me"
    " AND (item.claim_user_id IS NULL OR item.claim_expires_at <= now())"
)
_CLAIMED = "item.claim_user_id = :me AND item.claim_expires_at > now()"
_PAGE = f"""
    WITH {todo.PEOPLE}, {todo.BEGUN}, page AS MATERIALIZED (
        SELECT * FROM ({{keys}}) AS keys ORDER BY {{order}} LIMIT :limit
    )
    SELECT page.kind, page.rank, page.at, page.id, document.id AS artifact_id, document.name,
           document.priority, coalesce(item.id, own.tag_set_id) AS tag_set_id,
           coalesce(item.schema_id, own.schema_id, document.schema_id) AS schema_id,
           schemas.name AS schema_name,
           CASE WHEN item.id IS NULL THEN document.due_at ELSE item.due_at END AS due_at,
           CASE WHEN own.artifact_id IS NOT NULL THEN own.team_id
                WHEN item.id IS NULL AND NOT offer.named THEN offer.team_id END AS team_id,
           CASE WHEN item.id IS NULL AND document.claim_user_id = :me
                 AND document.claim_expires_at > now() THEN document.claim_expires_at
                WHEN item.claim_user_id = :me AND item.claim_expires_at > now()
                THEN item.claim_expires_at END AS claimed_until
    FROM page
    LEFT JOIN own ON page.kind = 'label' AND own.artifact_id = page.id
    LEFT JOIN tag_sets item ON page.kind = 'review' AND item.organization_id = :org
     AND item.id = page.id
    JOIN artifacts document ON document.organization_id = :org
     AND document.id = page.artifact_id
    LEFT JOIN schemas ON schemas.organization_id = :org
     AND schemas.id = coalesce(item.schema_id, own.schema_id, document.schema_id)
    CROSS JOIN LATERAL ({todo.OFFER.format(whose=":me")}) AS offer
    ORDER BY {{order}}
"""  # noqa: S608 - made of constants


@dataclass(frozen=True)
class Kinds:
    """What kinds of work are asked for. `self_review`: also what the person has labeled."""

    label: bool
    review: bool
    self_review: bool


def page(request: PageRequest, wanted: Wanted, kinds: Kinds) -> Page:
    """A page of what one person has to do."""
    (user_id,) = wanted.people

    def fetch(edge: Edge) -> tuple[list[Any], int | None]:
        if not (kinds.label or kinds.review):
            return [], 0
        values = {**wanted.values(), **edge.values, "me": user_id, "limit": edge.limit}
        values["self_review"] = kinds.self_review
        statement = Statement(tenancy.current_organization_id())
        sql = _sql(edge, kinds, _due(statement, wanted))
        rows = list(db.session().execute(statement.as_text(sql, values)))
        return rows, _count(wanted, kinds) if edge.is_first else None

    return paginate_rows(request, _ORDER, fetch)


def _due(statement: Statement, wanted: Wanted) -> str:
    if wanted.until is None:
        return ""
    where = {"assignee_id": counting.ASSIGNEES}
    span = Span("due", None, wanted.until)
    cells = statement.select_cells(OFFERED, ("assignee_id", "schema_id"), where, span)
    return _DUE.format(cells=cells)


def _sql(edge: Edge, kinds: Kinds, due: str) -> str:
    down = edge.descending
    order = "rank DESC, at DESC, id DESC" if down else "rank, at, id"
    parts = []
    if kinds.label:
        beyond = _from_edge(edge, "100 - own.urgency", "own.at", "own.artifact_id")
        parts.append(_OWN.format(own_filters=f"{todo.OWN_FILTERS} {beyond}"))
        beyond = _from_edge(edge, "100 - work.priority", "work.urgent_at", "work.artifact_id")
        if beyond:
            beyond += f" AND work.priority {'>=' if down else '<='} 100 - :rank"
        parts.append(
            _OFFERED.format(
                may_begin=todo.MAY_BEGIN.format(whose="reach.user_id"),
                of_team=todo.OF_TEAM,
                due=due,
                edge=beyond,
                order="work.priority, work.urgent_at DESC, work.artifact_id DESC"
                if down
                else "work.priority DESC, work.urgent_at, work.artifact_id",
            )
        )
    if kinds.review:
        beyond = _from_edge(edge, _RANK, _AT, "item.id")
        if beyond:
            bound = f"< (:rank + 1) * {RANK_STEP}" if down else f">= :rank * {RANK_STEP}"
            beyond += f" AND item.review_rank {bound}"
        in_queue = "item.review_rank DESC, item.id DESC" if down else "item.review_rank, item.id"
        parts += [
            _ITEMS.format(whose=whose, edge=beyond, order=in_queue)
            for whose in (_ASSIGNED, _CLAIMED)
        ]
    keys = " UNION ALL ".join(
        f"(SELECT * FROM ({part}) AS part ORDER BY {order} LIMIT :limit)"  # noqa: S608 - made of constants
        for part in parts
    )
    return _PAGE.format(keys=keys, order=order)


def _from_edge(edge: Edge, rank: str, at: str, identifier: str) -> str:
    if edge.is_first:
        return ""
    sign = "<" if edge.descending else ">"
    return (
        f"AND ({rank}, {at}, {identifier})"
        f" {sign} (CAST(:rank AS int), CAST(:at AS timestamptz), CAST(:id AS uuid))"
    )


def _count(wanted: Wanted, kinds: Kinds) -> int:
    parts = []
    if kinds.label:
        parts.append(counting.count_to_label(wanted))
    if kinds.review:
        parts.append(counting.count_to_review(wanted, self_review=kinds.self_review))
    total: Any = 0
    for part in parts:
        total += select(func.coalesce(func.sum(part.c.n), 0)).scalar_subquery()
    return int(db.session().execute(select(cast(total, BigInteger))).scalar_one())
