"""SQL for the list of tag sets: totals from counters, pages by an index for every filter."""

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
from app.kit.counters import Between
from app.kit.pagination import Keys, Page, PageRequest, paginate, within
from app.kit.prepared_lists import PreparedList
from app.schemas.artifact_schemas.models import ArtifactSchema, SchemaVersion
from app.workflow.tag_sets.counters import TAG_SETS
from app.workflow.tag_sets.models import TagSet
from app.workflow.tag_sets.queries.reading import (
    Reader,
    build_listed_columns,
    is_visible_to,
    join_people,
)
from app.workflow.tag_sets.transitions import TagSetStatus

_SORTS = {"created_at": TagSet.created_at, "updated_at": TagSet.updated_at}
_PERIOD = ("created_after", "created_before")
_STATUSES = tuple(TagSetStatus)
_KEYS: Any = select(TagSet.created_at, TagSet.id)
Versions = Sequence[UUID]
_NEWEST = PreparedList(
    "list_tag_sets",
    join_people(
        select(*build_listed_columns(bindparam("page_limit", type_=Integer) - 1)).select_from(
            TagSet
        )
    ).where(TagSet.organization_id == bindparam("organization_id")),
    counters.build_prepared_total(TAG_SETS, {}),
    TagSet.created_at,
    TagSet.id,
)


def get_page(request: PageRequest, *, filters: dict[str, Any], reader: Reader | None) -> Page:
    """Return a page of the tag sets that `reader` may see; None sees all.

    `filters` maps columns to values, `status` to several; also created_after and created_before.
    """
    if reader is None and not filters and request.sort == "-created_at":
        return _NEWEST.page(request)
    newest = request.sort.endswith("created_at")
    conditions, keys = _build_conditions(filters), list[Keys]()
    if reader is None:
        total = _count(filters)
        keys = _build_keys(filters) if newest else []
    elif "artifact_id" in filters:
        conditions.append(is_visible_to(reader))
        total = counters.count(_select_ids(filters).where(is_visible_to(reader)))
    else:
        total, keys = _find_visible(filters, reader)
        if not newest:
            conditions, keys = [*conditions, is_visible_to(reader)], []
    statement = select(*build_listed_columns(request.page_size)).select_from(TagSet)
    if not keys:
        statement = statement.where(*conditions)
    return paginate(
        join_people(statement), request, sorts=_SORTS, unique=TagSet.id, total=total, keys=keys
    )


def _find_visible(filters: dict[str, Any], reader: Reader) -> tuple[ColumnElement[int], list[Keys]]:
    """Return the number of tag sets that a reader may see, and their keys by creation time.

    Readers see their own drafts, and submitted tag sets unless they must label these blind.
    """
    statuses = filters.get("status") or _STATUSES
    submitted = {
        **filters,
        "status": [status for status in statuses if status != TagSetStatus.DRAFT],
    }
    total: ColumnElement[int] = cast(0, BigInteger)
    keys = list[Keys]()
    if submitted["status"]:
        total, keys = _find_submitted(submitted, reader)
    if (
        TagSetStatus.DRAFT in statuses
        and filters.get("labeler_id", reader.user_id) == reader.user_id
    ):
        own = {**filters, "status": [TagSetStatus.DRAFT], "labeler_id": reader.user_id}
        total = total + _count(own)
        keys.append(Keys(_KEYS.where(*_build_conditions(own))))
    # Only others' drafts match the filters, and these are never visible.
    return total, keys or [Keys(_KEYS.where(false()))]


def _find_submitted(
    filters: dict[str, Any], reader: Reader
) -> tuple[ColumnElement[int], list[Keys]]:
    blind = _list_overlapping_versions() if reader.blind else []
    if not blind:
        # Few tag sets have another source, and these have an index of their own.
        few = filters.get("source", "human") != "human"
        keys = [] if few else _build_keys(filters)
        return _count(filters), keys or [Keys(_KEYS.where(*_build_conditions(filters)))]
    siblings = _select_siblings(filters, reader.user_id, blind)
    total = _count_visible(filters, reader.user_id, blind, siblings)
    return total, _build_visible_keys(filters, reader.user_id, blind, siblings)


def _build_conditions(filters: dict[str, Any]) -> list[ColumnElement[bool]]:
    conditions = within(TagSet.created_at, *(filters.get(name) for name in _PERIOD))
    for name, value in filters.items():
        if name == "status":
            conditions.append(
                TagSet.status == value[0] if len(value) == 1 else TagSet.status.in_(value)
            )
        elif name not in _PERIOD:
            conditions.append(getattr(TagSet, name) == value)
    return conditions


def _count(
    filters: dict[str, Any], *, versions: Versions | None = None, labeler_id: UUID | None = None
) -> ColumnElement[int]:
    """Return the number of tag sets that match `filters`, of these versions and this labeler."""
    where = _remove_period(filters)
    rows = _select_ids(where)
    if versions is not None:
        where["version_id"] = versions
        rows = rows.where(TagSet.schema_version_id.in_(versions))
    if labeler_id is not None:
        where["labeler_id"] = labeler_id
        rows = rows.where(TagSet.labeler_id == labeler_id)
    after, before = (filters.get(name) for name in _PERIOD)
    if "artifact_id" in filters:
        return counters.count(rows.where(*within(TagSet.created_at, after, before)))
    between = None
    if after is not None or before is not None:
        between = Between("created", TagSet.created_at, after, before, rows)
    return counters.build_total(TAG_SETS, where, between=between)


def _select_ids(filters: dict[str, Any]) -> Select[Any]:
    # The tenant filter is explicit because the count is a part of another statement.
    own_organization = TagSet.organization_id == tenancy.current_organization_id()
    return select(TagSet.id).where(own_organization, *_build_conditions(filters))


def _build_keys(filters: dict[str, Any]) -> list[Keys]:
    """Return the index ranges of a page by creation time, or none if a single range has them."""
    statuses = filters.get("status", ())
    of_labeler = "labeler_id" in filters
    several = len(statuses) > 1 or (
        not statuses and ("schema_id" in filters or "reviewer_id" in filters)
    )
    if "artifact_id" in filters or not (of_labeler or several):
        return []
    facets = ("schema_id", "status") if of_labeler else ("status",)
    branches = _select_branches(_remove_period(filters), *facets)
    rest = {name: value for name, value in filters.items() if name not in facets}
    same = [getattr(TagSet, name) == branches.c[name] for name in facets]
    return [Keys(_KEYS.where(*same, *_build_conditions(rest)), branches)]


def _remove_period(filters: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in filters.items() if name not in _PERIOD}


def _select_branches(where: dict[str, Any], *facets: str, without: Versions = ()) -> Subquery:
    """Return the combinations of facets that tag sets have, except those of some versions."""
    cells = counters.select_cells(TAG_SETS, (*facets, *(["version_id"] if without else [])), where)
    columns = (cast(cells.c[name], Uuid) if name != "status" else cells.c[name] for name in facets)
    labeled = (column.label(name) for column, name in zip(columns, facets, strict=True))
    grouped = select(*labeled).group_by(*(cells.c[name] for name in facets))
    if without:
        grouped = grouped.where(
            cells.c.version_id.not_in([str(version_id) for version_id in without])
        )
    return grouped.having(func.sum(cells.c.n) > 0).subquery()


def _list_overlapping_versions() -> Versions:
    """Return the schema versions that are labeled blind; see `is_visible_to_labeler`.

    Of these a labeler sees only their own tag sets before they have submitted one.
    """
    policy = SchemaVersion.review_policy["labels_per_artifact"].astext.cast(Integer)
    now = select(ArtifactSchema.id).where(
        ArtifactSchema.current_version_id.in_(select(SchemaVersion.id).where(policy > 1))
    )
    statement = select(SchemaVersion.id).where(or_(policy > 1, SchemaVersion.schema_id.in_(now)))
    return list(db.session().scalars(statement))


def _count_visible(
    filters: dict[str, Any], user_id: UUID, blind: Versions, siblings: CTE | None
) -> ColumnElement[int]:
    """Return the number of tag sets that match `filters` and that a labeler may see."""
    total = _count(filters) - _count(filters, versions=list(blind))
    if filters.get("labeler_id", user_id) == user_id:
        total += _count(filters, versions=list(blind), labeler_id=user_id)
    if siblings is not None:
        total += select(func.count()).select_from(siblings).scalar_subquery()
    return total


def _select_siblings(filters: dict[str, Any], user_id: UUID, blind: Versions) -> CTE | None:
    """Return other people's tag sets of artifacts for which this labeler has submitted one.

    Only tag sets of `blind` versions are included. Each is found by its artifact, so the cost grows
    with the number of the labeler's own. None if the labeler has made none.
    """
    made = counters.build_total(TAG_SETS, {"labeler_id": user_id, "version_id": list(blind)})
    if not db.session().execute(select(made)).scalar_one():
        return None
    own = aliased(TagSet)
    organization_id = tenancy.current_organization_id()
    schemas = select(SchemaVersion.schema_id).where(SchemaVersion.id.in_(blind))
    submitted = (
        select(own.artifact_id, own.schema_id)
        .where(
            own.organization_id == organization_id,
            own.labeler_id == user_id,
            own.schema_id.in_(schemas),
            own.submitted_at.is_not(None),
            own.schema_version_id.in_(blind),
        )
        .distinct()
        .cte()
        .prefix_with("MATERIALIZED")
    )
    siblings = _KEYS.where(
        TagSet.organization_id == organization_id,
        TagSet.schema_version_id.in_(blind),
        TagSet.labeler_id.is_distinct_from(user_id),
        TagSet.artifact_id == submitted.c.artifact_id,
        TagSet.schema_id == submitted.c.schema_id,
        *_build_conditions(filters),
    )
    result: CTE = siblings.cte().prefix_with("MATERIALIZED")
    return result


def _build_visible_keys(
    filters: dict[str, Any], user_id: UUID, blind: Versions, siblings: CTE | None
) -> list[Keys]:
    where = _remove_period(filters)
    open_to_all = _select_branches(where, "schema_id", "status", without=blind)
    rest = {name: value for name, value in filters.items() if name not in ("status", "schema_id")}
    visible = _KEYS.where(
        TagSet.schema_id == open_to_all.c.schema_id,
        TagSet.status == open_to_all.c.status,
        TagSet.schema_version_id.not_in(blind),
        *_build_conditions(rest),
    )
    keys = [Keys(visible, open_to_all)]
    if filters.get("labeler_id", user_id) == user_id:
        keys += _build_keys({**filters, "labeler_id": user_id})
    if siblings is not None:
        keys.append(Keys(select(siblings.c.created_at, siblings.c.id)))
    return keys
