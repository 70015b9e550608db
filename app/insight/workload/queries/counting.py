"""SQL queries that count the work of users in a time that does not depend on the backlog's size."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

from sqlalchemy import (
    BigInteger,
    Boolean,
    ColumnElement,
    Integer,
    Select,
    SQLColumnExpression,
    Subquery,
    Text,
    Uuid,
    and_,
    cast,
    func,
    literal,
    literal_column,
    not_,
    select,
    union_all,
)
from sqlalchemy.orm import InstrumentedAttribute

from app.documents.artifacts.counters import OFFERED
from app.insight.workload.queries import labeling_work
from app.kit import counters, tenancy
from app.kit.counters import Between, BucketSpan
from app.kit.counters.spans import DAY, round_down
from app.kit.counters.sql import Query, StatementBuilder
from app.workflow.tag_sets import claimable
from app.workflow.tag_sets.counters import REVIEWS
from app.workflow.tag_sets.models import TagSet
from app.workflow.tag_sets.transitions import TagSetStatus

ASSIGNEES = Query("SELECT CAST(assignee_id AS text) FROM assignee_ids")
"""The query for the ids of the users whose work is counted and, with `by_team`, of their teams. It
reads `assignee_ids`, which `labeling_work.PEOPLE_CTES` defines."""
_MICROSECOND = timedelta(microseconds=1)
_MIN_DUE_BEFORE = datetime.min.replace(tzinfo=UTC) + _MICROSECOND
"""The minimum of `due_before` in calculations, from which a microsecond can be subtracted."""
_TO_LABEL = f"""
WITH {labeling_work.PEOPLE_CTES}, {labeling_work.BEGUN_CTES},
{labeling_work.OFFERED_CTES}, {labeling_work.NOT_ALLOWED_CTES},
due_today AS (
    SELECT assignee_ids.user_id, count(DISTINCT work.artifact_id) AS n
    FROM assignee_ids
    JOIN user_schemas ON user_schemas.user_id = assignee_ids.user_id
    JOIN artifact_assignees work ON work.organization_id = :org
     AND work.assignee_id = assignee_ids.assignee_id AND work.is_open
     AND work.schema_id = user_schemas.schema_id
     AND work.due_at > :until AND work.due_at < :due_before
    WHERE {labeling_work.MAY_BEGIN_CONDITION.format(user="assignee_ids.user_id")}
      AND {labeling_work.TEAM_CONDITION}
      AND (CAST(:schema_id AS uuid) IS NULL OR work.schema_id = :schema_id)
    GROUP BY assignee_ids.user_id
)
SELECT people.user_id,
       (SELECT count(*) FROM own
        WHERE own.user_id = people.user_id AND {labeling_work.OWN_LIST_CONDITION})
       + coalesce(offered_counts.n, 0) - coalesce(not_allowed_counts.n, 0)
       + coalesce(due_today.n, 0) AS n
FROM people
LEFT JOIN offered_counts ON offered_counts.user_id = people.user_id
LEFT JOIN not_allowed_counts ON not_allowed_counts.user_id = people.user_id
LEFT JOIN due_today ON due_today.user_id = people.user_id
"""  # noqa: S608 - made of constants


@dataclass(frozen=True)
class WorkCriteria:
    """The users whose work is counted or listed, and the filters of the list.

    `by_team` includes documents that are assigned to teams of the users.
    """

    user_ids: Sequence[UUID]
    by_team: bool = False
    schema_id: UUID | None = None
    team_id: UUID | None = None
    due_before: datetime | None = None

    @property
    def daily_counters_until(self) -> datetime | None:
        """Return the start of the UTC day that contains the last microsecond before `due_before`.

        The daily counters count the work that is due before this time. Work that is due between
        this time and `due_before` is found through an index. Returns None if `due_before` is None.
        """
        if self.due_before is None:
            return None
        return round_down(max(self.due_before, _MIN_DUE_BEFORE) - _MICROSECOND, DAY)

    def build_parameters(self) -> dict[str, Any]:
        """Return the SQL parameters of the common table expressions in `labeling_work`."""
        return {
            "org": tenancy.current_organization_id(),
            "people": [str(user_id) for user_id in self.user_ids],
            "by_team": self.by_team,
            "schema_id": self.schema_id,
            "team_id": self.team_id,
            "due_before": self.due_before,
            "until": self.daily_counters_until,
        }


def build_labeling_counts(criteria: WorkCriteria) -> Subquery:
    """Build a subquery that counts the documents that each user has to label.

    Its columns are `user_id` and `n`.
    """
    statement = StatementBuilder(tenancy.current_organization_id())
    where: dict[str, Any] = {"assignee_id": ASSIGNEES}
    if criteria.schema_id is not None:
        where["schema_id"] = criteria.schema_id
    span = (
        None
        if criteria.daily_counters_until is None
        else BucketSpan("due", None, criteria.daily_counters_until)
    )
    facet_names = ("assignee_id", "schema_id", "assignees", "labeled_by", "places_taken")
    cells = statement.select_cells(OFFERED, facet_names, where, span)
    counts = statement.as_select(
        _TO_LABEL.format(cells=cells),
        {"user_id": Uuid(), "n": BigInteger()},
        criteria.build_parameters(),
    )
    return counts.subquery()


def build_review_counts(criteria: WorkCriteria, *, self_review: bool) -> Subquery:
    """Build a subquery that counts the tag sets that each user has to review.

    Its columns are `user_id` and `n`. Without `self_review`, users do not review tag sets that they
    have labeled. Claimed tag sets are read row by row, because few tag sets are claimed at the same
    time. Merges that their assignees may not review are also read this way.
    """
    where: dict[str, Any] = {"assignee_id": list(criteria.user_ids), "archived": False}
    if criteria.schema_id is not None:
        where["schema_id"] = criteria.schema_id
    facet_names = ("assignee_id", "labeler_id")
    if criteria.due_before is None:
        cells = counters.select_cells(REVIEWS, facet_names, where)
    else:
        rows = _select_tag_sets_to_review(
            criteria,
            cast(TagSet.assignee_id, Text).label("assignee_id"),
            func.coalesce(cast(TagSet.labeler_id, Text), "").label("labeler_id"),
        ).where(TagSet.assignee_id.in_(criteria.user_ids))
        between = Between("due", TagSet.due_at, None, criteria.due_before, rows)
        cells = counters.select_cells_between(REVIEWS, facet_names, where, between)
    assigned_counts = select(cells.c.assignee_id, cells.c.n)
    if not self_review:
        # The cells have the labeler of a tag set, but not the labelers of a merge's sources.
        assigned_counts = assigned_counts.where(cells.c.assignee_id != cells.c.labeler_id)
    selects: list[Select[Any]] = [
        assigned_counts,
        _select_claimed(criteria, TagSet.assignee_id, -1, self_review=self_review),
        _select_claimed(criteria, TagSet.claim_user_id, 1, self_review=self_review),
    ]
    if not self_review:
        selects.append(_select_excluded_merges(criteria))
    user_id, n = union_all(*selects).subquery().c
    total = cast(func.sum(n), BigInteger).label("n")
    return select(cast(user_id, Uuid).label("user_id"), total).group_by(user_id).subquery()


def _select_claimed(
    criteria: WorkCriteria,
    user_column: InstrumentedAttribute[UUID | None],
    sign: int,
    *,
    self_review: bool,
) -> Select[Any]:
    """Select the user in `user_column` and `sign` as `n`, for each claimed tag set to review.

    `sign` is 1 to add the tag sets to the user's count, and -1 to subtract them. A claimed tag set
    counts for the user who claimed it, instead of for its assignee.
    """
    is_claimed = and_(TagSet.claim_user_id.is_not(None), TagSet.claim_expires_at > func.now())
    rows = _select_signed(criteria, user_column, sign).where(is_claimed)
    return rows if self_review else rows.where(_build_may_review(user_column))


def _select_excluded_merges(criteria: WorkCriteria) -> Select[Any]:
    """Select the assignee and -1 as `n`, for each merge that the assignee may not review."""
    return _select_signed(criteria, TagSet.assignee_id, -1).where(
        TagSet.assignee_id.is_not(None),
        TagSet.merged_from.is_not(None),
        not_(_build_may_review(TagSet.assignee_id)),
    )


def _build_may_review(user_column: InstrumentedAttribute[UUID | None]) -> ColumnElement[bool]:
    """Build the condition that a user may review a tag set without self-review."""
    condition = claimable.MAY_REVIEW.format(
        of="tag_sets.", self_review="false", user=f"tag_sets.{user_column.key}"
    )
    return literal_column(condition, Boolean)


def _select_signed(
    criteria: WorkCriteria, user_column: InstrumentedAttribute[UUID | None], sign: int
) -> Select[Any]:
    """Select `user_column`, and `sign` (1 or -1) as `n`, from the tag sets that await review."""
    rows = _select_tag_sets_to_review(
        criteria, cast(user_column, Text), literal(sign, Integer).label("n")
    ).where(user_column.in_(criteria.user_ids))
    if criteria.due_before is not None:
        rows = rows.where(TagSet.due_at < criteria.due_before)
    return rows


def _select_tag_sets_to_review(
    criteria: WorkCriteria, *columns: SQLColumnExpression[Any]
) -> Select[Any]:
    rows = select(*columns).where(
        TagSet.organization_id == tenancy.current_organization_id(),
        TagSet.status == TagSetStatus.SUBMITTED,
        ~TagSet.artifact_archived,
    )
    if criteria.schema_id is not None:
        rows = rows.where(TagSet.schema_id == criteria.schema_id)
    return rows
