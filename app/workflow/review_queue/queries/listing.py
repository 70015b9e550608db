"""SQL queries that list review items. Totals come from counters, and pages come from indexes.

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
from app.kit import counters, tenancy
from app.kit.pagination import KeyQuery, Page, PageRequest, paginate
from app.kit.periods import PERIOD_FILTERS, get_created_bounds, remove_period
from app.kit.prepared_lists import PreparedList
from app.workflow.review_queue.queries.reading import (
    IS_CLAIMED,
    IS_LISTED,
    SELECT_ITEMS,
    build_listed_condition,
)
from app.workflow.tag_sets.counters import REVIEWS, list_flag_combinations
from app.workflow.tag_sets.models import TagSet
from app.workflow.tag_sets.queries.deciding import list_team_ids

_SORT_COLUMNS = {"review_rank": TagSet.review_rank, "created_at": TagSet.created_at}
_NON_FACET_FILTERS = (*PERIOD_FILTERS, "claimed", "mine")
"""The filters for which the stored counts of reviews have no facet."""

_LIST_BY_URGENCY = PreparedList(
    "list_reviews",
    SELECT_ITEMS.where(TagSet.organization_id == bindparam("organization_id"), IS_LISTED),
    counters.build_prepared_total(REVIEWS, {"archived": False}),
    TagSet.review_rank,
    TagSet.id,
    "bigint",
)


def get_page(request: PageRequest, *, filters: dict[str, Any], user_id: UUID) -> Page:
    """Return a page of the pending items that match `filters`.

    Items of archived artifacts are omitted. The filter `mine` applies to the user `user_id`.
    """
    if not filters and request.sort == "review_rank":
        return _LIST_BY_URGENCY.get_page(request)
    team_ids = list_team_ids(user_id) if "mine" in filters else []
    keys = []
    if filters.get("mine"):
        column = _SORT_COLUMNS[request.sort.lstrip("-")]
        keys = _build_mine_keys(column, filters, user_id, team_ids)
    statement = (
        SELECT_ITEMS if keys else SELECT_ITEMS.where(build_listed_condition(filters, user_id))
    )
    total = _build_total(filters, user_id, team_ids)
    return paginate(
        statement,
        request,
        sort_columns=_SORT_COLUMNS,
        unique=TagSet.id,
        total=total,
        key_queries=keys,
    )


def _build_total(
    filters: dict[str, Any], user_id: UUID, team_ids: list[UUID]
) -> ColumnElement[int]:
    """Build an expression for the number of items that match `filters`.

    Claimed items are counted row by row, because there are only about as many claimed items as
    active reviewers.
    """
    if len({"mine", "claimed"} & set(filters)) > 1:
        return counters.count(_select_rows(filters, user_id))
    other_filters = {
        name: value for name, value in filters.items() if name not in ("mine", "claimed")
    }
    total = _build_count(other_filters, user_id)
    if "claimed" in filters:
        claimed_count = counters.count(_select_rows(other_filters, user_id).where(IS_CLAIMED))
        return claimed_count if filters["claimed"] else total - claimed_count
    if "mine" in filters:
        mine_count = _build_mine_count(other_filters, user_id, team_ids)
        return mine_count if filters["mine"] else total - mine_count
    return total


def _build_count(filters: dict[str, Any], user_id: UUID) -> ColumnElement[int]:
    after, before = get_created_bounds(filters)
    rows_query = _select_rows(remove_period(filters), user_id)
    between = counters.Between("created", TagSet.created_at, after, before, rows_query)
    # No cube has both the creation time and one of these facets.
    has_person_filter = bool({"labeler_id", "assignee_id", "team_id"} & set(filters))
    if has_person_filter and (after is not None or before is not None):
        return counters.count(_select_rows(filters, user_id))
    return counters.build_total(REVIEWS, _build_facet_filters(filters), between=between)


def _build_facet_filters(filters: dict[str, Any]) -> dict[str, Any]:
    facet_filters: dict[str, Any] = {"archived": False}
    for name, value in filters.items():
        if name == "flag":
            facet_filters["flags"] = list_flag_combinations(value)
        elif name not in _NON_FACET_FILTERS:
            facet_filters[name] = value
    return facet_filters


def _build_mine_count(
    filters: dict[str, Any], user_id: UUID, team_ids: list[UUID]
) -> ColumnElement[int]:
    """Build an expression for the number of items that match `filters` and the filter `mine`."""
    if any(name in filters for name in (*PERIOD_FILTERS, "labeler_id", "assignee_id", "team_id")):
        return counters.count(_select_rows({**filters, "mine": True}, user_id))
    facet_filters = _build_facet_filters(filters)
    total = counters.build_total(REVIEWS, {**facet_filters, "assignee_id": user_id})
    if team_ids:
        cells = counters.select_cells(
            REVIEWS, ("assignee_id",), {**facet_filters, "team_id": team_ids}
        )
        team_total = cast(func.coalesce(func.sum(cells.c.n), 0), BigInteger)
        is_other_assignee = cells.c.assignee_id != str(user_id)
        total += select(team_total).where(is_other_assignee).scalar_subquery()
    # Items that are assigned to the user or the user's teams are already in `total`.
    claimed_only = _select_rows(filters, user_id).where(
        IS_CLAIMED,
        TagSet.claim_user_id == user_id,
        TagSet.assignee_id.is_distinct_from(user_id),
        or_(TagSet.assignee_team_id.is_(None), TagSet.assignee_team_id.not_in(team_ids)),
    )
    return total + counters.count(claimed_only)


def _select_rows(filters: dict[str, Any], user_id: UUID) -> Select[Any]:
    # The ORM does not add this condition to a count inside another statement.
    in_organization = TagSet.organization_id == tenancy.current_organization_id()
    return select(TagSet.id).where(in_organization, build_listed_condition(filters, user_id))


def _build_mine_keys(
    column: SQLColumnExpression[Any], filters: dict[str, Any], user_id: UUID, team_ids: list[UUID]
) -> list[KeyQuery]:
    """Build the queries for the sort keys and ids of the items that match `filters`, one per index.

    The items are assigned to the user, claimed by the user, or assigned to one of the teams.
    """
    other_filters = {name: value for name, value in filters.items() if name != "mine"}
    keys: Select[Any] = select(column, TagSet.id).where(
        build_listed_condition(other_filters, user_id)
    )
    key_queries = [
        KeyQuery(keys.where(TagSet.assignee_id == user_id)),
        KeyQuery(keys.where(IS_CLAIMED, TagSet.claim_user_id == user_id)),
    ]
    if team_ids:
        own_teams = values(column_of("team_id", TeamMember.team_id.type), name="own_teams")
        branches = own_teams.data([(team_id,) for team_id in team_ids])
        team_keys = keys.where(TagSet.assignee_team_id == branches.c.team_id)
        key_queries.append(KeyQuery(team_keys, branches))
    return key_queries
