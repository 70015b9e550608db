"""SQL queries for the list of tag sets. Totals come from counters; pages use index ranges."""

from collections.abc import Sequence
from typing import Any
from uuid import UUID

from sqlalchemy import (
    CTE,
    BigInteger,
    ColumnElement,
    Integer,
    Select,
    Subquery,
    Uuid,
    bindparam,
    cast,
    false,
    func,
    or_,
    select,
)
from sqlalchemy.orm import aliased

from app.kit import counters, db, tenancy
from app.kit.counters import build_between
from app.kit.pagination import KeyQuery, Page, PageRequest, paginate, within
from app.kit.periods import PERIOD_FILTERS, build_filter_conditions
from app.kit.prepared_lists import PreparedList
from app.schemas.artifact_schemas.models import SchemaVersion
from app.workflow.tag_sets.counters import TAG_SETS
from app.workflow.tag_sets.models import TagSet
from app.workflow.tag_sets.queries.reading import (
    IS_OVERLAPPING,
    OVERLAPPING_SCHEMAS,
    Reader,
    build_visibility_condition,
    select_listed_tag_sets,
)
from app.workflow.tag_sets.transitions import TagSetStatus

_SORTS = {"created_at": TagSet.created_at, "updated_at": TagSet.updated_at}
_STATUSES = tuple(TagSetStatus)
_KEYS = select(TagSet.created_at, TagSet.id)
VersionIds = Sequence[UUID]
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
        return _NEWEST.page(request)
    sorts_by_creation = request.sort.endswith("created_at")
    conditions, keys = _build_conditions(filters), list[KeyQuery]()
    if reader is None:
        total = _build_count(filters)
        keys = _build_keys(filters) if sorts_by_creation else []
    elif "artifact_id" in filters:
        conditions.append(build_visibility_condition(reader))
        total = counters.count(_select_ids(filters).where(build_visibility_condition(reader)))
    else:
        total, keys = _build_visible_total_and_keys(filters, reader)
        if not sorts_by_creation:
            conditions, keys = [*conditions, build_visibility_condition(reader)], []
    statement = select_listed_tag_sets(request.page_size)
    if not keys:
        statement = statement.where(*conditions)
    return paginate(statement, request, sorts=_SORTS, unique=TagSet.id, total=total, keys=keys)


def _build_visible_total_and_keys(
    filters: dict[str, Any], reader: Reader
) -> tuple[ColumnElement[int], list[KeyQuery]]:
    """Build the total and the index ranges for the tag sets that a reader may see.

    Readers see their own drafts, and submitted tag sets unless they must label the artifact blind.
    """
    statuses = filters.get("status") or _STATUSES
    submitted_filters = {
        **filters,
        "status": [status for status in statuses if status != TagSetStatus.DRAFT],
    }
    total: ColumnElement[int] = cast(0, BigInteger)
    keys = list[KeyQuery]()
    if submitted_filters["status"]:
        total, keys = _build_submitted_total_and_keys(submitted_filters, reader)
    if (
        TagSetStatus.DRAFT in statuses
        and filters.get("labeler_id", reader.user_id) == reader.user_id
    ):
        draft_filters = {**filters, "status": [TagSetStatus.DRAFT], "labeler_id": reader.user_id}
        total = total + _build_count(draft_filters)
        keys.append(KeyQuery(_KEYS.where(*_build_conditions(draft_filters))))
    # If there are no keys, only drafts of other users match the filters. They are never visible.
    return total, keys or [KeyQuery(_KEYS.where(false()))]


def _build_submitted_total_and_keys(
    filters: dict[str, Any], reader: Reader
) -> tuple[ColumnElement[int], list[KeyQuery]]:
    blind_versions = _list_blind_version_ids() if reader.blind else []
    if not blind_versions:
        # Few tag sets have a source other than human, and a separate index contains them.
        has_rare_source = filters.get("source", "human") != "human"
        keys = [] if has_rare_source else _build_keys(filters)
        return _build_count(filters), keys or [KeyQuery(_KEYS.where(*_build_conditions(filters)))]
    siblings = _select_siblings(filters, reader.user_id, blind_versions)
    total = _build_visible_count(filters, reader.user_id, blind_versions, siblings)
    return total, _build_visible_keys(filters, reader.user_id, blind_versions, siblings)


def _build_conditions(filters: dict[str, Any]) -> list[ColumnElement[bool]]:
    column_filters = {name: value for name, value in filters.items() if name != "status"}
    conditions = build_filter_conditions(TagSet, column_filters)
    if "status" in filters:
        statuses = filters["status"]
        conditions.append(
            TagSet.status == statuses[0] if len(statuses) == 1 else TagSet.status.in_(statuses)
        )
    return conditions


def _build_count(
    filters: dict[str, Any], *, versions: VersionIds | None = None, labeler_id: UUID | None = None
) -> ColumnElement[int]:
    """Build an expression for the number of tag sets that match `filters`.

    `versions` and `labeler_id` restrict the number to schema versions and to one labeler.
    """
    facet_filters = _remove_period(filters)
    rows = _select_ids(facet_filters)
    if versions is not None:
        facet_filters["version_id"] = versions
        rows = rows.where(TagSet.schema_version_id.in_(versions))
    if labeler_id is not None:
        facet_filters["labeler_id"] = labeler_id
        rows = rows.where(TagSet.labeler_id == labeler_id)
    after, before = (filters.get(name) for name in PERIOD_FILTERS)
    if "artifact_id" in filters:
        return counters.count(rows.where(*within(TagSet.created_at, after, before)))
    between = build_between("created", TagSet.created_at, after, before, rows)
    return counters.build_total(TAG_SETS, facet_filters, between=between)


def _select_ids(filters: dict[str, Any]) -> Select[Any]:
    # The ORM does not add this condition to a count inside another statement.
    in_organization = TagSet.organization_id == tenancy.current_organization_id()
    return select(TagSet.id).where(in_organization, *_build_conditions(filters))


def _build_keys(filters: dict[str, Any]) -> list[KeyQuery]:
    """Build index ranges for a page sorted by creation time, or [] if one range is enough."""
    statuses = filters.get("status", ())
    has_labeler = "labeler_id" in filters
    has_many_statuses = len(statuses) > 1 or (
        not statuses and ("schema_id" in filters or "reviewer_id" in filters)
    )
    if "artifact_id" in filters or not (has_labeler or has_many_statuses):
        return []
    facets = ("schema_id", "status") if has_labeler else ("status",)
    branches = _select_branches(_remove_period(filters), *facets)
    other_filters = {name: value for name, value in filters.items() if name not in facets}
    in_branch = [getattr(TagSet, name) == branches.c[name] for name in facets]
    return [KeyQuery(_KEYS.where(*in_branch, *_build_conditions(other_filters)), branches)]


def _remove_period(filters: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in filters.items() if name not in PERIOD_FILTERS}


def _select_branches(
    facet_filters: dict[str, Any], *facets: str, excluded_versions: VersionIds = ()
) -> Subquery:
    """Build a subquery with one row for each existing combination of facet values.

    Tag sets of `excluded_versions` are ignored.
    """
    version_facet = ["version_id"] if excluded_versions else []
    cells = counters.select_cells(TAG_SETS, (*facets, *version_facet), facet_filters)
    columns = (cast(cells.c[name], Uuid) if name != "status" else cells.c[name] for name in facets)
    named_columns = (column.label(name) for column, name in zip(columns, facets, strict=True))
    grouped = select(*named_columns).group_by(*(cells.c[name] for name in facets))
    if excluded_versions:
        grouped = grouped.where(
            cells.c.version_id.not_in([str(version_id) for version_id in excluded_versions])
        )
    return grouped.having(func.sum(cells.c.n) > 0).subquery()


def _list_blind_version_ids() -> VersionIds:
    """Return the ids of the schema versions with which artifacts are labeled blind.

    Of these versions, labelers see only their own tag sets until they have submitted a tag set for
    the artifact. See `build_labeler_visibility_condition`.
    """
    statement = select(SchemaVersion.id).where(
        or_(IS_OVERLAPPING, SchemaVersion.schema_id.in_(OVERLAPPING_SCHEMAS))
    )
    return list(db.session().scalars(statement))


def _build_visible_count(
    filters: dict[str, Any], user_id: UUID, blind_versions: VersionIds, siblings: CTE | None
) -> ColumnElement[int]:
    """Build an expression for the number of tag sets that match and that a labeler may see.

    `siblings` is the result of `_select_siblings`.
    """
    total = _build_count(filters) - _build_count(filters, versions=list(blind_versions))
    if filters.get("labeler_id", user_id) == user_id:
        total += _build_count(filters, versions=list(blind_versions), labeler_id=user_id)
    if siblings is not None:
        total += select(func.count()).select_from(siblings).scalar_subquery()
    return total


def _select_siblings(
    filters: dict[str, Any], user_id: UUID, blind_versions: VersionIds
) -> CTE | None:
    """Build a CTE of the tag sets by other people that a labeler may see after labeling blind.

    The CTE contains tag sets of `blind_versions`, for artifacts for which the labeler has submitted
    a tag set. It searches by artifact, so the cost grows with the number of the labeler's own tag
    sets. Returns None if the labeler has no tag set of these versions.
    """
    own_total = counters.build_total(
        TAG_SETS, {"labeler_id": user_id, "version_id": list(blind_versions)}
    )
    if not db.session().execute(select(own_total)).scalar_one():
        return None
    own_tag_set = aliased(TagSet)
    organization_id = tenancy.current_organization_id()
    schemas = select(SchemaVersion.schema_id).where(SchemaVersion.id.in_(blind_versions))
    submitted = (
        select(own_tag_set.artifact_id, own_tag_set.schema_id)
        .where(
            own_tag_set.organization_id == organization_id,
            own_tag_set.labeler_id == user_id,
            own_tag_set.schema_id.in_(schemas),
            own_tag_set.submitted_at.is_not(None),
            own_tag_set.schema_version_id.in_(blind_versions),
        )
        .distinct()
        .cte()
        .prefix_with("MATERIALIZED")
    )
    siblings = _KEYS.where(
        TagSet.organization_id == organization_id,
        TagSet.schema_version_id.in_(blind_versions),
        TagSet.labeler_id.is_distinct_from(user_id),
        TagSet.artifact_id == submitted.c.artifact_id,
        TagSet.schema_id == submitted.c.schema_id,
        *_build_conditions(filters),
    )
    result: CTE = siblings.cte().prefix_with("MATERIALIZED")
    return result


def _build_visible_keys(
    filters: dict[str, Any], user_id: UUID, blind_versions: VersionIds, siblings: CTE | None
) -> list[KeyQuery]:
    branches = _select_branches(
        _remove_period(filters), "schema_id", "status", excluded_versions=blind_versions
    )
    other_filters = {
        name: value for name, value in filters.items() if name not in ("status", "schema_id")
    }
    visible = _KEYS.where(
        TagSet.schema_id == branches.c.schema_id,
        TagSet.status == branches.c.status,
        TagSet.schema_version_id.not_in(blind_versions),
        *_build_conditions(other_filters),
    )
    keys = [KeyQuery(visible, branches)]
    if filters.get("labeler_id", user_id) == user_id:
        keys += _build_keys({**filters, "labeler_id": user_id})
    if siblings is not None:
        keys.append(KeyQuery(select(siblings.c.created_at, siblings.c.id)))
    return keys
