"""SQL queries for the list of tag sets. Totals come from counters, and pages use index ranges."""

from typing import Any
from uuid import UUID

from sqlalchemy import (
    CTE,
    BigInteger,
    ColumnElement,
    Integer,
    bindparam,
    cast,
    false,
    func,
    or_,
    select,
)
from sqlalchemy.orm import aliased

from app.kit import counters, db, tenancy
from app.kit.pagination import KeyQuery, Page, PageRequest, paginate
from app.kit.periods import remove_period
from app.kit.prepared_lists import PreparedList
from app.schemas.artifact_schemas.models import SchemaVersion
from app.workflow.tag_sets.counters import TAG_SETS
from app.workflow.tag_sets.models import TagSet
from app.workflow.tag_sets.queries.ranges import (
    SELECT_KEYS,
    VersionIds,
    build_conditions,
    build_count,
    build_key_queries,
    select_branches,
    select_ids,
)
from app.workflow.tag_sets.queries.reading import (
    IS_OVERLAPPING,
    OVERLAPPING_SCHEMAS,
    Reader,
    build_visibility_condition,
    select_listed_tag_sets,
)
from app.workflow.tag_sets.transitions import TagSetStatus

_SORT_COLUMNS = {"created_at": TagSet.created_at, "updated_at": TagSet.updated_at}
_STATUSES = tuple(TagSetStatus)
_MIN_ROWS_TO_SCAN = 20_000
"""The minimum number of tag sets for which a list by `updated_at` reads an index in that order.

If there are fewer tag sets, the list reads and sorts all of them. The number counts the tag sets
that match the filters and whose schema versions are not labeled blind."""
_NEWEST = PreparedList(
    "list_tag_sets",
    select_listed_tag_sets(bindparam("page_limit", type_=Integer) - 1).where(
        TagSet.organization_id == bindparam("organization_id")
    ),
    counters.build_prepared_total(TAG_SETS, {}),
    TagSet.created_at,
    TagSet.id,
)


def get_page(request: PageRequest, *, filters: dict[str, Any], reader: Reader | None) -> Page:
    """Return a page of the tag sets that match `filters` and that `reader` may see.

    If `reader` is None, all tag sets are visible. `filters` maps columns to values, and `status` to
    a list of statuses. Two other keys are allowed: created_after and created_before.
    """
    if reader is None and not filters and request.sort == "-created_at":
        return _NEWEST.get_page(request)
    sorts_by_creation = request.sort.endswith("created_at")
    conditions, key_queries = build_conditions(filters), list[KeyQuery]()
    if reader is None:
        total = build_count(filters)
        key_queries = build_key_queries(filters) if sorts_by_creation else []
    elif "artifact_id" in filters:
        conditions.append(build_visibility_condition(reader))
        total = counters.count(select_ids(filters).where(build_visibility_condition(reader)))
    else:
        total, key_queries = _build_visible_total_and_key_queries(
            filters, reader, by_creation=sorts_by_creation
        )
    statement = select_listed_tag_sets(request.page_size)
    if not key_queries:
        statement = statement.where(*conditions)
    return paginate(
        statement,
        request,
        sort_columns=_SORT_COLUMNS,
        unique=TagSet.id,
        total=total,
        key_queries=key_queries,
    )


def _build_visible_total_and_key_queries(
    filters: dict[str, Any], reader: Reader, *, by_creation: bool
) -> tuple[ColumnElement[int], list[KeyQuery]]:
    """Build the total and the index ranges for the tag sets that a reader may see.

    Readers see their own drafts, and submitted tag sets unless they must label the artifact blind.
    `by_creation` is true if the page is sorted by creation time.
    """
    statuses = filters.get("status") or _STATUSES
    submitted_filters = {
        **filters,
        "status": [status for status in statuses if status != TagSetStatus.DRAFT],
    }
    total: ColumnElement[int] = cast(0, BigInteger)
    key_queries = list[KeyQuery]()
    if submitted_filters["status"]:
        total, key_queries = _build_submitted_total_and_key_queries(
            submitted_filters, reader, by_creation=by_creation
        )
    if (
        TagSetStatus.DRAFT in statuses
        and filters.get("labeler_id", reader.user_id) == reader.user_id
    ):
        draft_filters = {**filters, "status": [TagSetStatus.DRAFT], "labeler_id": reader.user_id}
        total = total + build_count(draft_filters)
        key_queries.append(KeyQuery(SELECT_KEYS.where(*build_conditions(draft_filters))))
    # If there are no key queries, only drafts of other users match the filters. These are hidden.
    return total, key_queries or [KeyQuery(SELECT_KEYS.where(false()))]


def _build_submitted_total_and_key_queries(
    filters: dict[str, Any], reader: Reader, *, by_creation: bool
) -> tuple[ColumnElement[int], list[KeyQuery]]:
    blind_version_ids = _list_blind_version_ids() if reader.is_labeler else []
    if not blind_version_ids:
        # Few tag sets have a source other than human, and a separate index contains them.
        has_rare_source = filters.get("source", "human") != "human"
        key_queries = build_key_queries(filters) if by_creation and not has_rare_source else []
        return build_count(filters), key_queries or [
            KeyQuery(SELECT_KEYS.where(*build_conditions(filters)))
        ]
    siblings = _select_siblings(filters, reader.user_id, blind_version_ids)
    total = _build_visible_count(filters, reader.user_id, blind_version_ids, siblings)
    key_queries = [_build_non_blind_key_query(filters, blind_version_ids, by_creation=by_creation)]
    if filters.get("labeler_id", reader.user_id) == reader.user_id:
        own_filters = {**filters, "labeler_id": reader.user_id}
        own_key_queries = build_key_queries(own_filters) if by_creation else []
        key_queries += own_key_queries or [
            KeyQuery(SELECT_KEYS.where(*build_conditions(own_filters)))
        ]
    if siblings is not None:
        key_queries.append(KeyQuery(select(*siblings.c)))
    return total, key_queries


def _list_blind_version_ids() -> VersionIds:
    """Return the ids of the schema versions with which artifacts are labeled blind.

    With these versions, labelers see only their own tag sets until they have submitted a tag set
    for the artifact. See `build_labeler_visibility_condition`.
    """
    statement = select(SchemaVersion.id).where(
        or_(IS_OVERLAPPING, SchemaVersion.schema_id.in_(OVERLAPPING_SCHEMAS))
    )
    return list(db.session().scalars(statement))


def _build_visible_count(
    filters: dict[str, Any], user_id: UUID, blind_version_ids: VersionIds, siblings: CTE | None
) -> ColumnElement[int]:
    """Build an expression for the number of tag sets that match `filters` and are visible.

    `user_id` is the id of the labeler who reads the list. `siblings` is the result of
    `_select_siblings`.
    """
    total = build_count(filters) - build_count(filters, version_ids=list(blind_version_ids))
    if filters.get("labeler_id", user_id) == user_id:
        total += build_count(filters, version_ids=list(blind_version_ids), labeler_id=user_id)
    if siblings is not None:
        total += select(func.count()).select_from(siblings).scalar_subquery()
    return total


def _select_siblings(
    filters: dict[str, Any], user_id: UUID, blind_version_ids: VersionIds
) -> CTE | None:
    """Build a CTE of the tag sets by other people that a labeler may see after labeling blind.

    The CTE contains tag sets of `blind_version_ids`, for artifacts for which the labeler has
    submitted a tag set. It searches by artifact, so the cost grows with the number of the labeler's
    tag sets with the schemas of `blind_version_ids`. Returns None if there are no such tag sets.
    """
    blind_schemas = select(SchemaVersion.schema_id).where(SchemaVersion.id.in_(blind_version_ids))
    schema_ids = list(db.session().scalars(blind_schemas.distinct()))
    own_total = counters.build_total(TAG_SETS, {"labeler_id": user_id, "schema_id": schema_ids})
    if not db.session().execute(select(own_total)).scalar_one():
        return None
    own_tag_set = aliased(TagSet)
    organization_id = tenancy.current_organization_id()
    submitted_tag_set = (
        select(own_tag_set.artifact_id, own_tag_set.schema_id)
        .where(
            own_tag_set.organization_id == organization_id,
            own_tag_set.labeler_id == user_id,
            own_tag_set.schema_id.in_(schema_ids),
            own_tag_set.submitted_at.is_not(None),
        )
        .distinct()
        .cte()
        .prefix_with("MATERIALIZED")
    )
    siblings = SELECT_KEYS.where(
        TagSet.organization_id == organization_id,
        TagSet.schema_version_id.in_(blind_version_ids),
        TagSet.labeler_id.is_distinct_from(user_id),
        TagSet.artifact_id == submitted_tag_set.c.artifact_id,
        TagSet.schema_id == submitted_tag_set.c.schema_id,
        *build_conditions(filters),
    )
    result: CTE = siblings.cte().prefix_with("MATERIALIZED")
    return result


def _build_non_blind_key_query(
    filters: dict[str, Any], blind_version_ids: VersionIds, *, by_creation: bool
) -> KeyQuery:
    """Build the index ranges for the tag sets whose schema versions are not labeled blind.

    `by_creation` is true if the page is sorted by creation time. Otherwise, one range suffices if
    at least `_MIN_ROWS_TO_SCAN` tag sets match.
    """
    is_not_blind = TagSet.schema_version_id.not_in(blind_version_ids)
    if not by_creation:
        count = build_count(filters) - build_count(filters, version_ids=list(blind_version_ids))
        if db.session().execute(select(count)).scalar_one() >= _MIN_ROWS_TO_SCAN:
            return KeyQuery(SELECT_KEYS.where(is_not_blind, *build_conditions(filters)))
    branches = select_branches(
        remove_period(filters), "schema_id", "status", excluded_version_ids=blind_version_ids
    )
    other_filters = {
        name: value for name, value in filters.items() if name not in ("status", "schema_id")
    }
    in_branch = SELECT_KEYS.where(
        TagSet.schema_id == branches.c.schema_id,
        TagSet.status == branches.c.status,
        is_not_blind,
        *build_conditions(other_filters),
    )
    return KeyQuery(in_branch, branches)
