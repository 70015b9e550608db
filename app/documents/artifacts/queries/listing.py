"""SQL queries for the list of documents. Totals come from counters where possible."""

from collections.abc import Sequence
from typing import Any
from uuid import UUID

from sqlalchemy import (
    Boolean,
    ColumnElement,
    Integer,
    Select,
    Subquery,
    Uuid,
    bindparam,
    case,
    cast,
    func,
    literal_column,
    select,
)

from app.documents.artifacts.counters import ARTIFACTS, ASSIGNED, SCANNED
from app.documents.artifacts.models.documents import Artifact
from app.documents.artifacts.models.people import SCHEMA_OR_NONE, ArtifactAssignee
from app.documents.artifacts.queries import search_pages
from app.documents.artifacts.queries.reading import (
    SORT_COLUMNS,
    apply_filters,
    build_list_statement,
)
from app.documents.artifacts.statuses import OcrStatus
from app.kit import counters, tenancy
from app.kit.counters import Between
from app.kit.pagination import (
    KeyQuery,
    Page,
    PageRequest,
    build_period_conditions,
    paginate,
)
from app.kit.periods import PERIOD_FILTERS, Column, get_created_bounds
from app.kit.prepared_lists import PreparedList

_FACETS = ("status", "schema_id", "media_type", "language", "gold", "assigned", "archived")
"""The filters that are facets of the counters."""
_ALL_PERIOD_FILTERS = (*PERIOD_FILTERS, "due_after", "due_before")
_COUNTED_FILTERS = frozenset({*_FACETS, *_ALL_PERIOD_FILTERS, "assignee"})
_STATE_FILTERS = ("status", "schema_id", "archived")
_SCANNED_FILTERS = (*_STATE_FILTERS, "ocr")
_NO_SCHEMA_ID = str(UUID(int=0))
_DEFAULT_SORT, _DEFAULT_FILTERS = "-created_at", {"archived": "false"}
_NEWEST_LIST = PreparedList(
    "list_artifacts",
    build_list_statement(bindparam("page_limit", type_=Integer) - 1).where(
        Artifact.organization_id == bindparam("organization_id"), Artifact.archived.is_(False)
    ),
    counters.build_prepared_total(ARTIFACTS, _DEFAULT_FILTERS),
    Artifact.created_at,
    Artifact.id,
)


def list_artifacts(page: PageRequest, **filters: Any) -> Page:
    """Return a page of documents that match the filters, which `ArtifactFilters` lists."""
    if "q" in filters:
        return search_pages.list_hits(page, filters)
    if page.sort == _DEFAULT_SORT and filters == _DEFAULT_FILTERS:
        return _NEWEST_LIST.get_page(page)
    keys = _build_key_queries(filters) if page.sort.endswith("created_at") else []
    statement = build_list_statement(page.page_size)
    if not keys:
        statement = apply_filters(statement, **filters)
    return paginate(
        statement,
        page,
        sort_columns=SORT_COLUMNS,
        unique=Artifact.id,
        total=_build_total(filters),
        key_queries=keys,
    )


def _build_total(filters: dict[str, Any]) -> ColumnElement[int]:
    """Build an expression for the total number of documents that match `filters`."""
    periods = _list_periods(filters)
    where = _build_where(filters, *_FACETS)
    if "ocr" in filters and set(filters) <= set(_SCANNED_FILTERS):
        return _build_scanned_total(filters)
    if not _COUNTED_FILTERS.issuperset(filters) or len(periods) > 1:
        return counters.count(_select_ids(filters))
    between = periods[0] if periods else None
    if "assignee" not in filters:
        return counters.build_total(ARTIFACTS, where, between=between)
    if between is None and set(where) <= set(_STATE_FILTERS):
        return counters.build_total(ASSIGNED, {**where, "assignee_id": filters["assignee"]})
    return counters.count(_select_ids(filters))


def _build_scanned_total(filters: dict[str, Any]) -> ColumnElement[int]:
    where = _build_where(filters, *_STATE_FILTERS)
    if filters["ocr"] == OcrStatus.NONE:
        total = counters.build_total(ARTIFACTS, where)
        return total - counters.build_total(SCANNED, where)
    return counters.build_total(SCANNED, {**where, "ocr": filters["ocr"]})


def _list_periods(filters: dict[str, Any]) -> list[Between]:
    """Return the creation and due periods among `filters`."""
    periods = []
    for bucket, column in (("created", Artifact.created_at), ("due", Artifact.due_at)):
        after, before = filters.get(f"{bucket}_after"), filters.get(f"{bucket}_before")
        if after is not None or before is not None:
            other_filters = {k: v for k, v in filters.items() if not k.startswith(f"{bucket}_")}
            periods.append(Between(bucket, column, after, before, _select_ids(other_filters)))
    return periods


def _select_ids(filters: dict[str, Any]) -> Select[Any]:
    # The condition on the organization is explicit, because this SELECT becomes a subquery.
    is_in_organization = Artifact.organization_id == tenancy.current_organization_id()
    return apply_filters(select(Artifact.id), **filters).where(is_in_organization)


def _build_key_queries(filters: dict[str, Any]) -> list[KeyQuery]:
    """Build the queries that find the ids on a page sorted by creation time (see `KeyQuery`).

    Each query reads several index ranges, one for each combination of facet values. Returns an
    empty list if one index range contains the page, or if no counters have all of the filters.
    """
    if not _COUNTED_FILTERS.issuperset(filters):
        return []
    if "assignee" in filters:
        return _build_assigned_key_queries(filters)
    has_several_ranges = len(filters.get("status", ())) > 1 or filters.get("archived") == "any"
    has_schema = "schema_id" in filters
    if not has_several_ranges and (not has_schema or filters.get("status")):
        return []
    by_status = has_schema or "status" in filters
    facet_names = ("archived", "status") if by_status else ("archived",)
    where = _build_where(filters, *_STATE_FILTERS)
    branches = _select_branches(counters.select_cells(ARTIFACTS, facet_names, where), facet_names)
    other_filters = {k: v for k, v in filters.items() if k not in ("status", "archived")}
    columns: tuple[Column, ...] = (Artifact.created_at, Artifact.id)
    statement = apply_filters(select(*columns), **other_filters, archived="any")
    statement = statement.where(Artifact.archived == branches.c.archived)
    if by_status:
        statement = statement.where(Artifact.status == branches.c.status)
    return [KeyQuery(statement, branches)]


def _build_assigned_key_queries(filters: dict[str, Any]) -> list[KeyQuery]:
    assignee = ArtifactAssignee
    if not set(filters) <= {"assignee", *_STATE_FILTERS, *_ALL_PERIOD_FILTERS}:
        return []
    by_state = "status" in filters or "schema_id" in filters
    facet_names = ("archived", "schema_id", "status") if by_state else ("archived",)
    where = _build_where(filters, *_STATE_FILTERS)
    cells = counters.select_cells(
        ASSIGNED, facet_names, {**where, "assignee_id": filters["assignee"]}
    )
    branches = _select_branches(cells, facet_names)
    columns: tuple[Column, ...] = (assignee.created_at, assignee.artifact_id.label("id"))
    statement = select(*columns).where(
        assignee.assignee_id == filters["assignee"],
        assignee.archived == branches.c.archived,
        *build_period_conditions(assignee.created_at, *get_created_bounds(filters)),
        *build_period_conditions(
            assignee.due_at, filters.get("due_after"), filters.get("due_before")
        ),
    )
    if by_state:
        schema: ColumnElement[Any] = literal_column(SCHEMA_OR_NONE, Uuid())
        statement = statement.where(
            schema == branches.c.schema_id, assignee.status == branches.c.status
        )
    return [KeyQuery(statement, branches)]


def _build_where(filters: dict[str, Any], *names: str) -> dict[str, Any]:
    where = {name: filters[name] for name in names if name in filters}
    if where.get("archived", "false") == "any":
        del where["archived"]
    else:
        where.setdefault("archived", "false")
    return where


def _select_branches(cells: Subquery, facet_names: Sequence[str]) -> Subquery:
    """Select the combinations of facet values that documents have, cast to the column types.

    Each combination is a branch of a `KeyQuery`: an index range to read.
    """
    facets = [_cast_facet(name, cells.c[name]).label(name) for name in facet_names]
    statement = select(*facets).group_by(*(cells.c[name] for name in facet_names))
    return statement.having(func.sum(cells.c.n) > 0).subquery("branches")


def _cast_facet(name: str, facet: ColumnElement[str]) -> ColumnElement[Any]:
    """Cast a facet to the type of its column; an empty schema id becomes the all-zero UUID."""
    if name == "archived":
        return cast(facet, Boolean)
    if name == "schema_id":
        return cast(case((facet == "", _NO_SCHEMA_ID), else_=facet), Uuid)
    return facet
