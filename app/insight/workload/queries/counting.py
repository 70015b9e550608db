"""SQL of how much people have to do. None of it takes longer the longer a backlog is."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from sqlalchemy import (
    BigInteger,
    Integer,
    Select,
    Subquery,
    Text,
    Uuid,
    and_,
    cast,
    func,
    literal,
    select,
    union_all,
)

from app.documents.artifacts.counters import OFFERED
from app.insight.workload.queries import todo
from app.kit import counters, tenancy
from app.kit.counters import Between, Span
from app.kit.counters.spans import DAY, round_down
from app.kit.counters.sql import Query, Statement
from app.workflow.tag_sets.counters import REVIEWS
from app.workflow.tag_sets.models import TagSet
from app.workflow.tag_sets.transitions import TagSetStatus

ASSIGNEES = Query("SELECT CAST(assignee_id AS text) FROM reach")
"""Whose cells are read, by a common table of `todo`."""
_MICROSECOND = timedelta(microseconds=1)
_TO_LABEL = f"""
WITH {todo.PEOPLE}, {todo.BEGUN}, {todo.OFFERED}, {todo.WITHHELD}, due_today AS (
    SELECT reach.user_id, count(DISTINCT work.artifact_id) AS n
    FROM reach
    JOIN able ON able.user_id = reach.user_id
    JOIN artifact_assignees work ON work.organization_id = :org
     AND work.assignee_id = reach.assignee_id AND work.is_open
     AND work.schema_id = able.schema_id
     AND work.due_at > :until AND work.due_at < :due_before
    WHERE {todo.MAY_BEGIN.format(whose="reach.user_id")} AND {todo.OF_TEAM}
      AND (CAST(:schema_id AS uuid) IS NULL OR work.schema_id = :schema_id)
    GROUP BY reach.user_id
)
SELECT people.user_id,
       (SELECT count(*) FROM own WHERE own.user_id = people.user_id AND {todo.OWN_FILTERS})
       + coalesce(offered.n, 0) - coalesce(withheld.n, 0) + coalesce(due_today.n, 0) AS n
FROM people
LEFT JOIN offered ON offered.user_id = people.user_id
LEFT JOIN withheld ON withheld.user_id = people.user_id
LEFT JOIN due_today ON due_today.user_id = people.user_id
"""  # noqa: S608 - made of constants


@dataclass(frozen=True)
class Wanted:
    """What to count: of whom, by name or, with `by_team`, by their teams too, and the list's
    filters."""

    people: Sequence[UUID]
    by_team: bool = False
    schema_id: UUID | None = None
    team_id: UUID | None = None
    due_before: datetime | None = None

    @property
    def until(self) -> datetime | None:
        """Up to when counts tell what is due. What is due later, but before `due_before`, an index
        tells."""
        if self.due_before is None:
            return None
        return round_down(self.due_before - _MICROSECOND, DAY)

    def values(self) -> dict[str, Any]:
        """The parameters of the common tables."""
        return {
            "org": tenancy.current_organization_id(),
            "people": [str(one) for one in self.people],
            "by_team": self.by_team,
            "schema_id": self.schema_id,
            "team_id": self.team_id,
            "due_before": self.due_before,
            "until": self.until,
        }


def count_to_label(wanted: Wanted) -> Subquery:
    """How many documents each of the people has to label: user_id, n."""
    statement = Statement(tenancy.current_organization_id())
    where: dict[str, Any] = {"assignee_id": ASSIGNEES}
    if wanted.schema_id is not None:
        where["schema_id"] = wanted.schema_id
    span = None if wanted.until is None else Span("due", None, wanted.until)
    shown = ("assignee_id", "schema_id", "assignees", "labeled_by", "places_taken")
    cells = statement.select_cells(OFFERED, shown, where, span)
    found = statement.as_select(
        _TO_LABEL.format(cells=cells), {"user_id": Uuid(), "n": BigInteger()}, wanted.values()
    )
    return found.subquery()


def count_to_review(wanted: Wanted, *, self_review: bool) -> Subquery:
    """How many items each of the people has to review: user_id, n. What somebody has claimed is
    looked at one by one, as many as people review at this moment."""
    where: dict[str, Any] = {"assignee_id": list(wanted.people), "archived": False}
    if wanted.schema_id is not None:
        where["schema_id"] = wanted.schema_id
    shown = ("assignee_id", "labeler_id")
    if wanted.due_before is None:
        cells = counters.cells(REVIEWS, shown, where)
    else:
        rows = _items(
            wanted,
            cast(TagSet.assignee_id, Text).label("assignee_id"),
            func.coalesce(cast(TagSet.labeler_id, Text), "").label("labeler_id"),
        ).where(TagSet.assignee_id.in_(wanted.people))
        between = Between("due", TagSet.due_at, None, wanted.due_before, rows)
        cells = counters.cells_between(REVIEWS, shown, where, between)
    assigned = select(cells.c.assignee_id, cells.c.n)
    if not self_review:
        assigned = assigned.where(cells.c.assignee_id != cells.c.labeler_id)
    parts = [
        assigned,
        _claimed(wanted, TagSet.assignee_id, -1, self_review=self_review),
        _claimed(wanted, TagSet.claim_user_id, 1, self_review=self_review),
    ]
    found = union_all(*parts).subquery()
    whose, n = found.c
    counted = cast(func.sum(n), BigInteger).label("n")
    return select(cast(whose, Uuid).label("user_id"), counted).group_by(whose).subquery()


def _claimed(wanted: Wanted, whose: Any, sign: int, *, self_review: bool) -> Select[Any]:
    live = and_(TagSet.claim_user_id.is_not(None), TagSet.claim_expires_at > func.now())
    rows = _items(wanted, cast(whose, Text), literal(sign, Integer).label("n"))
    rows = rows.where(live, whose.in_(wanted.people))
    if wanted.due_before is not None:
        rows = rows.where(TagSet.due_at < wanted.due_before)
    return rows if self_review else rows.where(TagSet.labeler_id.is_distinct_from(whose))


def _items(wanted: Wanted, *columns: Any) -> Select[Any]:
    rows = select(*columns).where(
        TagSet.organization_id == tenancy.current_organization_id(),
        TagSet.status == TagSetStatus.SUBMITTED,
        ~TagSet.artifact_archived,
    )
    return rows if wanted.schema_id is None else rows.where(TagSet.schema_id == wanted.schema_id)
