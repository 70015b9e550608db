"""SQL queries that list review items, with totals from counters and pages from indexes.

An item is listed while its tag set is submitted and its artifact is not archived.
"""

from typing import Any
from uuid import UUID

from sqlalchemy import (
    BigInteger,
    ColumnElement,
    Select,
    SQLColumnExpression,
    bindparam,
    cast,
    func,
    or_,
    select,
    values,
)
from sqlalchemy import column as column_of

from app.identity.teams.models import TeamMember
from app.kit import counters, db, tenancy
from app.kit.counters import Between
from app.kit.pagination import Keys, Page, PageRequest, paginate
from app.kit.prepared_lists import PreparedList
from app.workflow.review_queue.queries.reading import CLAIMED, ITEMS, is_listed
from app.workflow.tag_sets.counters import REVIEWS, list_values_with_flag
from app.workflow.tag_sets.models import TagSet
from app.workflow.tag_sets.transitions import TagSetStatus

_SORTS = {"review_rank": TagSet.review_rank, "created_at": TagSet.created_at}
_PERIOD = ("created_after", "created_before")
_UNCOUNTED_FILTERS = (*_PERIOD, "claimed", "mine")
"""Filters without a counter facet."""

_LIST_BY_URGENCY = PreparedList(
    "list_reviews",
    ITEMS.where(
        TagSet.organization_id == bindparam("organization_id"),
        TagSet.status == TagSetStatus.SUBMITTED,
        ~TagSet.artifact_archived,
    ),
    counters.build_prepared_total(REVIEWS, {"archived": False}),
    TagSet.review_rank,
    TagSet.id,
    "bigint",
)


def get_page(request: PageRequest, *, filters: dict[str, Any], user_id: UUID) -> Page:
    """List the pending items of artifacts that are not archived.

    The filter `mine` applies to the user `user_id`.
    """
    if not filters and request.sort == "review_rank":
        return _LIST_BY_URGENCY.page(request)
    teams = _list_team_ids(user_id) if "mine" in filters else []
    keys = []
    if filters.get("mine"):
        column = _SORTS[request.sort.lstrip("-")]
        keys = _build_mine_keys(column, filters, user_id, teams)
    statement = ITEMS if keys else ITEMS.where(is_listed(filters, user_id))
    total = _build_total(filters, user_id, teams)
    return paginate(statement, request, sorts=_SORTS, unique=TagSet.id, total=total, keys=keys)


def _list_team_ids(user_id: UUID) -> list[UUID]:
    statement = select(TeamMember.team_id).where(TeamMember.user_id == user_id)
    return list(db.session().scalars(statement))


def _build_total(filters: dict[str, Any], user_id: UUID, teams: list[UUID]) -> ColumnElement[int]:
    """Build an expression for the number of items that match `filters`.

    Claimed items are counted row by row, because there are only about as many as active reviewers.
    """
    if len({"mine", "claimed"} & set(filters)) > 1:
        return counters.count(_select_rows(filters, user_id))
    other_filters = {
        name: value for name, value in filters.items() if name not in ("mine", "claimed")
    }
    total = _count(other_filters, user_id)
    if "claimed" in filters:
        claimed = counters.count(_select_rows(other_filters, user_id).where(CLAIMED))
        return claimed if filters["claimed"] else total - claimed
    if "mine" in filters:
        mine = _count_mine(other_filters, user_id, teams)
        return mine if filters["mine"] else total - mine
    return total


def _count(filters: dict[str, Any], user_id: UUID) -> ColumnElement[int]:
    after, before = (filters.get(name) for name in _PERIOD)
    between = None
    if after is not None or before is not None:
        other_filters = {name: value for name, value in filters.items() if name not in _PERIOD}
        between = Between(
            "created", TagSet.created_at, after, before, _select_rows(other_filters, user_id)
        )
    people = {"labeler_id", "assignee_id", "team_id"} & set(filters)
    if between is not None and people:
        return counters.count(_select_rows(filters, user_id))
    return counters.build_total(REVIEWS, _build_where(filters), between=between)


def _build_where(filters: dict[str, Any]) -> dict[str, Any]:
    where: dict[str, Any] = {"archived": False}
    for name, value in filters.items():
        if name == "flag":
            where["flags"] = list_values_with_flag(value)
        elif name not in _UNCOUNTED_FILTERS:
            where[name] = value
    return where


def _count_mine(filters: dict[str, Any], user_id: UUID, teams: list[UUID]) -> ColumnElement[int]:
    """Build an expression for the number of items that the filter `mine` matches."""
    if any(name in filters for name in (*_PERIOD, "labeler_id", "assignee_id", "team_id")):
        return counters.count(_select_rows({**filters, "mine": True}, user_id))
    where = _build_where(filters)
    total = counters.build_total(REVIEWS, {**where, "assignee_id": user_id})
    if teams:
        cells = counters.select_cells(REVIEWS, ("assignee_id",), {**where, "team_id": teams})
        team_total = cast(func.coalesce(func.sum(cells.c.n), 0), BigInteger)
        is_other_assignee = cells.c.assignee_id != str(user_id)
        total += select(team_total).where(is_other_assignee).scalar_subquery()
    claimed_only = _select_rows(filters, user_id).where(
        CLAIMED,
        TagSet.claim_user_id == user_id,
        TagSet.assignee_id.is_distinct_from(user_id),
        or_(TagSet.assignee_team_id.is_(None), TagSet.assignee_team_id.not_in(teams)),
    )
    return total + counters.count(claimed_only)


def _select_rows(filters: dict[str, Any], user_id: UUID) -> Select[Any]:
    # The ORM does not add this condition to a count inside another statement.
    in_organization = TagSet.organization_id == tenancy.current_organization_id()
    return select(TagSet.id).where(in_organization, is_listed(filters, user_id))


def _build_mine_keys(
    column: SQLColumnExpression[Any], filters: dict[str, Any], user_id: UUID, teams: list[UUID]
) -> list[Keys]:
    other_filters = {name: value for name, value in filters.items() if name != "mine"}
    keys: Select[Any] = select(column, TagSet.id).where(is_listed(other_filters, user_id))
    result = [
        Keys(keys.where(TagSet.assignee_id == user_id)),
        Keys(keys.where(CLAIMED, TagSet.claim_user_id == user_id)),
    ]
    if teams:
        team_ids = values(column_of("team_id", TeamMember.team_id.type), name="own_teams")
        branches = team_ids.data([(team_id,) for team_id in teams])
        result.append(Keys(keys.where(TagSet.assignee_team_id == branches.c.team_id), branches))
    return result
