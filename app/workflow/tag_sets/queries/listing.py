"""SQL of the list of label sets: its length from counts, its pages by an index for every filter."""

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
    is_visible_to,
    listed_columns,
    with_people,
)

_SORTS = {"created_at": TagSet.created_at, "updated_at": TagSet.updated_at}
_PERIOD = ("created_after", "created_before")
_STATUSES = ("draft", "submitted", "accepted", "rejected")
_KEYS: Any = select(TagSet.created_at, TagSet.id)
Versions = Sequence[UUID]
_NEWEST = PreparedList(
    "list_tag_sets",
    with_people(
        select(*listed_columns(bindparam("page_limit", type_=Integer) - 1)).select_from(TagSet)
    ).where(TagSet.organization_id == bindparam("organization_id")),
    counters.prepared_total(TAG_SETS, {}),
    TagSet.created_at,
    TagSet.id,
)


def page(request: PageRequest, *, filters: dict[str, Any], reader: Reader | None) -> Page:
    """Return a page of tag sets, those that `reader` may see.

    `filters` maps columns to values, `status` to several; created_after, created_before.
    """
    if reader is None and not filters and request.sort == "-created_at":
        return _NEWEST.page(request)
    newest = request.sort.endswith("created_at")
    conditions, keys = _conditions(filters), list[Keys]()
    if reader is None:
        total = _total(filters)
        keys = _keys(filters) if newest else []
    elif "artifact_id" in filters:
        conditions.append(is_visible_to(reader))
        total = counters.count(_rows(filters).where(is_visible_to(reader)))
    else:
        total, keys = _of_reader(filters, reader)
        if not newest:
            conditions, keys = [*conditions, is_visible_to(reader)], []
    statement = select(*listed_columns(request.page_size)).select_from(TagSet)
    if not keys:
        statement = statement.where(*conditions)
    return paginate(
        with_people(statement), request, sorts=_SORTS, unique=TagSet.id, total=total, keys=keys
    )


def _of_reader(filters: dict[str, Any], reader: Reader) -> tuple[ColumnElement[int], list[Keys]]:
    """Return how many tag sets a reader may see, and how to find them in the order of creation:
    what is no draft, as far as they need not label blind, and their own drafts."""
    statuses = filters.get("status") or _STATUSES
    decided = {**filters, "status": [one for one in statuses if one != "draft"]}
    total: ColumnElement[int] = cast(0, BigInteger)
    keys = list[Keys]()
    if decided["status"]:
        total, keys = _no_drafts(decided, reader)
    if "draft" in statuses and filters.get("labeler_id", reader.user_id) == reader.user_id:
        own = {**filters, "status": ["draft"], "labeler_id": reader.user_id}
        total = total + _total(own)
        keys.append(Keys(_KEYS.where(*_conditions(own))))
    # Others' drafts alone: there are none.
    return total, keys or [Keys(_KEYS.where(false()))]


def _no_drafts(filters: dict[str, Any], reader: Reader) -> tuple[ColumnElement[int], list[Keys]]:
    blind = _overlapping_versions() if reader.blind else []
    if not blind:
        # Of other sources there are few, and an index of their own has them.
        few = filters.get("source", "human") != "human"
        keys = [] if few else _keys(filters)
        return _total(filters), keys or [Keys(_KEYS.where(*_conditions(filters)))]
    beside = _beside_own(filters, reader.user_id, blind)
    total = _visible_total(filters, reader.user_id, blind, beside)
    return total, _visible_keys(filters, reader.user_id, blind, beside)


def _conditions(filters: dict[str, Any]) -> list[ColumnElement[bool]]:
    found = within(TagSet.created_at, *(filters.get(name) for name in _PERIOD))
    for name, value in filters.items():
        if name == "status":
            found.append(TagSet.status == value[0] if len(value) == 1 else TagSet.status.in_(value))
        elif name not in _PERIOD:
            found.append(getattr(TagSet, name) == value)
    return found


def _total(filters: dict[str, Any], **more: Any) -> ColumnElement[int]:
    """How many label sets `filters` find, those of `more` facets alone."""
    where = {name: value for name, value in filters.items() if name not in _PERIOD} | more
    others = {name: value for name, value in filters.items() if name not in _PERIOD}
    rows = _rows(others)
    if "version_id" in more:
        rows = rows.where(TagSet.schema_version_id.in_(more["version_id"]))
    if "labeler_id" in more:
        rows = rows.where(TagSet.labeler_id == more["labeler_id"])
    after, before = (filters.get(name) for name in _PERIOD)
    if "artifact_id" in filters:
        return counters.count(rows.where(*within(TagSet.created_at, after, before)))
    between = None
    if after is not None or before is not None:
        between = Between("created", TagSet.created_at, after, before, rows)
    return counters.total(TAG_SETS, where, between=between)


def _rows(filters: dict[str, Any]) -> Select[Any]:
    # Said here too, as a count is part of another statement.
    ours = TagSet.organization_id == tenancy.current_organization_id()
    return select(TagSet.id).where(ours, *_conditions(filters))


def _keys(filters: dict[str, Any]) -> list[Keys]:
    """How a page in the order of creation is found where one index range does not hold it."""
    statuses = filters.get("status", ())
    of_labeler = "labeler_id" in filters
    several = len(statuses) > 1 or (
        not statuses and ("schema_id" in filters or "reviewer_id" in filters)
    )
    if "artifact_id" in filters or not (of_labeler or several):
        return []
    shown = ("schema_id", "status") if of_labeler else ("status",)
    branches = _branches(_without_period(filters), *shown)
    rest = {name: value for name, value in filters.items() if name not in shown}
    same = [getattr(TagSet, name) == branches.c[name] for name in shown]
    return [Keys(_KEYS.where(*same, *_conditions(rest)), branches)]


def _without_period(filters: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in filters.items() if name not in _PERIOD}


def _branches(where: dict[str, Any], *shown: str, but: Versions = ()) -> Subquery:
    """The combinations of facets that there are label sets of, less those of some versions."""
    cells = counters.cells(TAG_SETS, (*shown, *(["version_id"] if but else [])), where)
    columns = (cast(cells.c[name], Uuid) if name != "status" else cells.c[name] for name in shown)
    labeled = (column.label(name) for column, name in zip(columns, shown, strict=True))
    grouped = select(*labeled).group_by(*(cells.c[name] for name in shown))
    if but:
        grouped = grouped.where(cells.c.version_id.not_in([str(one) for one in but]))
    return grouped.having(func.sum(cells.c.n) > 0).subquery()


def _overlapping_versions() -> Versions:
    """The versions of whose label sets a labeler sees only their own before they have submitted
    one; see `visible_to_labeler`."""
    policy = SchemaVersion.review_policy["labels_per_artifact"].astext.cast(Integer)
    now = select(ArtifactSchema.id).where(
        ArtifactSchema.current_version_id.in_(select(SchemaVersion.id).where(policy > 1))
    )
    statement = select(SchemaVersion.id).where(or_(policy > 1, SchemaVersion.schema_id.in_(now)))
    return list(db.session().scalars(statement))


def _visible_total(
    filters: dict[str, Any], user_id: UUID, blind: Versions, beside: CTE | None
) -> ColumnElement[int]:
    """How many label sets `filters` find of which a labeler may see each."""
    found = _total(filters) - _total(filters, version_id=list(blind))
    if filters.get("labeler_id", user_id) == user_id:
        found += _total(filters, version_id=list(blind), labeler_id=user_id)
    if beside is not None:
        found += select(func.count()).select_from(beside).scalar_subquery()
    return found


def _beside_own(filters: dict[str, Any], user_id: UUID, blind: Versions) -> CTE | None:
    """What others made of documents of which this labeler has submitted a label set of such a
    version: found one by one, as many as these are. None where they have made none."""
    made = counters.total(TAG_SETS, {"labeler_id": user_id, "version_id": list(blind)})
    if not db.session().execute(select(made)).scalar_one():
        return None
    own = aliased(TagSet)
    ours = tenancy.current_organization_id()
    schemas = select(SchemaVersion.schema_id).where(SchemaVersion.id.in_(blind))
    submitted = (
        select(own.artifact_id, own.schema_id)
        .where(
            own.organization_id == ours,
            own.labeler_id == user_id,
            own.schema_id.in_(schemas),
            own.submitted_at.is_not(None),
            own.schema_version_id.in_(blind),
        )
        .distinct()
        .cte()
        .prefix_with("MATERIALIZED")
    )
    beside = _KEYS.where(
        TagSet.organization_id == ours,
        TagSet.schema_version_id.in_(blind),
        TagSet.labeler_id.is_distinct_from(user_id),
        TagSet.artifact_id == submitted.c.artifact_id,
        TagSet.schema_id == submitted.c.schema_id,
        *_conditions(filters),
    )
    found: CTE = beside.cte().prefix_with("MATERIALIZED")
    return found


def _visible_keys(
    filters: dict[str, Any], user_id: UUID, blind: Versions, beside: CTE | None
) -> list[Keys]:
    where = _without_period(filters)
    open_to_all = _branches(where, "schema_id", "status", but=blind)
    rest = {name: value for name, value in filters.items() if name not in ("status", "schema_id")}
    shown = _KEYS.where(
        TagSet.schema_id == open_to_all.c.schema_id,
        TagSet.status == open_to_all.c.status,
        TagSet.schema_version_id.not_in(blind),
        *_conditions(rest),
    )
    found = [Keys(shown, open_to_all)]
    if filters.get("labeler_id", user_id) == user_id:
        found += _keys({**filters, "labeler_id": user_id})
    if beside is not None:
        found.append(Keys(select(beside.c.created_at, beside.c.id)))
    return found
