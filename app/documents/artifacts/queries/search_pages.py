"""SQL queries for the pages of full-text search results.

For a page sorted by creation time, only the documents on the page are read. The time to count the
hits grows with their number, so the total is cached until the searched data changes. The total also
shows how dense the hits are, which selects one of three ways to find a page:

- Hits are rare: all hits are visited and sorted.
- A few percent of the documents are hits: only hits among the newest documents are visited. The
  number of these documents is chosen so that they probably contain the page. This combines two
  indexes, of words and of time.
- Most documents are hits: the documents after the page start are tested one by one.

With filters that are not in the search index, or in another order, the hits are counted for each
first page.
"""

from datetime import datetime
from math import isqrt
from threading import Lock
from typing import Any
from uuid import UUID

from cachetools import LRUCache
from sqlalchemy import (
    ColumnElement,
    Integer,
    Select,
    UnaryExpression,
    Uuid,
    bindparam,
    cast,
    func,
    select,
    tuple_,
)
from sqlalchemy.dialects.postgresql import ARRAY, TSQUERY

from app.documents.artifacts.models.documents import Artifact
from app.documents.artifacts.queries import search_totals
from app.documents.artifacts.queries.reading import (
    SORT_COLUMNS,
    apply_filters,
    apply_search_index_filters,
    build_list_statement,
)
from app.documents.artifacts.queries.searching import (
    SearchQuery,
    build_query,
    build_search_time,
    searchable_documents,
    select_hits,
)
from app.kit import db, tenancy
from app.kit.pagination import Page, PageRequest, PageStart, paginate, paginate_rows
from app.kit.periods import Column
from app.kit.prepared import Prepared

_INDEXED_FILTERS = frozenset({"q", "archived", "created_after", "created_before"})
"""Filters that the full-text index can apply without reading the documents."""
_SORT_KEY_TYPES = {"created_at": Artifact.created_at.type.python_type, "id": UUID}
MIN_HITS_TO_TEST_NEWEST = 20_000
"""With at least this many hits, documents are tested one by one. But if a filter is not in
`_INDEXED_FILTERS`, or the sort key is not `created_at`, the hits are collected in a hash table."""
_TESTED_PER_RESULT = 20
"""The maximum number of documents that are tested for each document of the page."""
MIN_HITS_TO_SEARCH_NEWEST = 2_000
"""With at least this many hits, a page is searched for among the newest documents."""
_DEVIATIONS = 5
"""The number of standard deviations by which the expected hits exceed the size of a page.

Hits are assumed to be independent of time, so their number has a Poisson distribution.
"""
_MAX_NEWEST = 100_000
"""The maximum number of newest documents to search for hits. If more would be necessary, it is
faster to read all hits (`_find_by_index`)."""
_MAX_ATTEMPTS = 5
"""The maximum number of times that a page is searched. The search is repeated if documents that it
found are deleted before they are read."""
_last_times: LRUCache[tuple[UUID, str, int, bool], datetime] = LRUCache(maxsize=1000)
"""Cache of the results of `_find_last_time` for first pages."""
_PageKey = tuple[UUID, str, str, str, int, bool]
_first_pages: LRUCache[_PageKey, list[UUID]] = LRUCache(maxsize=200)
"""Cache of the artifact ids on the first page of a search.

The key contains the version of the searched data, so a change of the data invalidates an entry.
"""
_lock = Lock()
_LIST_BY_IDS = Prepared.from_select(
    "list_found_artifacts",
    build_list_statement(bindparam("page_size", type_=Integer)).where(
        Artifact.organization_id == bindparam("organization_id"),
        Artifact.id == func.any(bindparam("artifact_ids", type_=ARRAY(Uuid))),
    ),
    organization_id="uuid",
    artifact_ids="uuid[]",
    page_size="int",
)


def list_hits(request: PageRequest, filters: dict[str, Any]) -> Page:
    """Return a page of documents that match the search `q` and the other `filters`."""
    query = build_query(filters["q"])
    other_filters = {name: value for name, value in filters.items() if name != "q"}
    if not (request.sort.endswith("created_at") and _INDEXED_FILTERS.issuperset(filters)):
        statement = apply_filters(build_list_statement(request.page_size), **other_filters)
        statement = statement.where(_build_hit_condition(query))
        return paginate(statement, request, sort_columns=SORT_COLUMNS, unique=Artifact.id)

    def fetch(page_start: PageStart) -> tuple[list[Any], int | None]:
        for _ in range(_MAX_ATTEMPTS):
            total = search_totals.count_hits(query, other_filters) if page_start.is_first else None
            ids = _find_near_page_start(query, other_filters, page_start) or _find_by_index(
                query, other_filters, page_start
            )
            rows = _list_by_ids([str(artifact_id) for artifact_id in ids], request.page_size)
            # If a document was deleted in the meantime, the page looks like the last page.
            if len(rows) == len(ids):
                break
        return rows, total

    return paginate_rows(request, _SORT_KEY_TYPES, fetch)


def select_ids(filters: dict[str, Any]) -> Select[Any]:
    """Return a SELECT of the ids of all documents that match `filters`, which may include `q`."""
    other_filters = {name: value for name, value in filters.items() if name != "q"}
    statement = apply_filters(select(Artifact.id), **other_filters)
    if filters.get("q") is None:
        return statement
    return statement.where(_build_hit_condition(build_query(filters["q"])))


def _build_hit_condition(query: SearchQuery) -> ColumnElement[bool]:
    """Build the condition that a document matches a search.

    PostgreSQL does not know how many documents match. Without hints, it would test all documents in
    the order of the list for a rare word, and find the document of each hit for a frequent word.
    """
    hit_ids = select(select_hits(query).c.id)
    # Counting takes long only for frequent words. These stay frequent, so an old total suffices.
    _, hit_count, _ = search_totals.get_last_total(query, {})
    if hit_count < MIN_HITS_TO_TEST_NEWEST:
        hit_count = search_totals.count_hits(query, {})
    if hit_count >= MIN_HITS_TO_TEST_NEWEST:
        # `IS TRUE` makes PostgreSQL collect the ids of the hits in a hash table, and read the
        # documents in the order of the list until the page is full.
        return Artifact.id.in_(hit_ids).is_(True)
    # PostgreSQL expects few elements in the array, so it finds the document of each hit.
    return Artifact.id == func.any(func.array(hit_ids.scalar_subquery()))


def _list_by_ids(artifact_ids: list[str], page_size: int) -> list[Any]:
    """Return the documents in the order of `artifact_ids`, without those that were deleted."""
    ids = f"{{{','.join(artifact_ids)}}}"
    rows = _LIST_BY_IDS.all(str(tenancy.current_organization_id()), ids, page_size)
    row_by_id = {row.id: row for row in rows}
    return [row_by_id[artifact_id] for artifact_id in artifact_ids if artifact_id in row_by_id]


def _find_near_page_start(
    query: SearchQuery, other_filters: dict[str, Any], page_start: PageStart
) -> list[UUID]:
    """Return the page's document ids by searching only the documents that come next in time.

    This avoids reading all hits. Returns an empty list if such a search is not expected to be
    faster than `_find_by_index`, or if these documents have too few hits.
    """
    version, hit_count, searched_count = search_totals.get_last_total(query, other_filters)
    if hit_count >= MIN_HITS_TO_TEST_NEWEST:
        return _find_by_testing_next(query, other_filters, page_start)
    expected_hits = page_start.limit + _DEVIATIONS * isqrt(page_start.limit)
    newest_count = searched_count * expected_hits // max(hit_count, 1)
    if hit_count < MIN_HITS_TO_SEARCH_NEWEST or newest_count > _MAX_NEWEST:
        return []
    key = _build_page_key(query, other_filters, page_start, version)
    with _lock:
        ids = _first_pages.get(key, []) if page_start.is_first else []
    if not ids:
        last_time = _find_last_time(page_start, newest_count, version)
        if last_time is not None:
            ids = _find_page_up_to(last_time, query, other_filters, page_start)
        if ids and page_start.is_first:
            with _lock:
                _first_pages[key] = ids
    return ids


def _build_page_key(
    query: SearchQuery, other_filters: dict[str, Any], page_start: PageStart, version: str
) -> _PageKey:
    """Build the cache key of a first page.

    `version` must be read before the page. If the data changes in between, the cached page has an
    outdated version and is never returned.
    """
    search = (query.tsquery or "", other_filters.get("archived", "false"))
    page = (page_start.limit, page_start.descending)
    return tenancy.current_organization_id(), version, *search, *page


def _find_last_time(page_start: PageStart, count: int, version: str) -> datetime | None:
    """Return the creation time of the document `count` documents after the start of the page.

    Returns None if there are fewer documents. For first pages, the result is cached until the
    searched data changes, because reading thousands of index entries takes a tenth of the page's
    time.
    """
    key = (tenancy.current_organization_id(), version, count, page_start.descending)
    with _lock:
        last_time = _last_times.get(key) if page_start.is_first else None
    if last_time is not None:
        return last_time
    search_time = build_search_time(searchable_documents.c.created_at)
    times = select(search_time)
    if not page_start.is_first:
        page_start_time = func.timezone("UTC", page_start.values["created_at"])
        times = times.where(
            search_time <= page_start_time
            if page_start.descending
            else search_time >= page_start_time
        )
    ordered_times = times.order_by(search_time.desc() if page_start.descending else search_time)
    last_time = db.session().scalar(ordered_times.offset(count).limit(1))
    if last_time is not None and page_start.is_first:
        with _lock:
            _last_times[key] = last_time
    return last_time


def _find_page_up_to(
    last_time: datetime, query: SearchQuery, other_filters: dict[str, Any], page_start: PageStart
) -> list[UUID]:
    """Return the page's document ids if the hits up to `last_time` fill the page, else []."""
    hit = select_hits(query, by_time=True).c
    hit_time = build_search_time(hit.created_at)
    statement = apply_search_index_filters(select(hit.id, hit.created_at), hit, **other_filters)
    statement = statement.where(
        hit_time >= last_time if page_start.descending else hit_time <= last_time
    )
    # The hits are materialized, so that the planner does not merge them with the outer sort and
    # use only the index on time.
    hits_by_time = statement.cte("hits_by_time").prefix_with("MATERIALIZED").c
    columns = (hits_by_time.created_at, hits_by_time.id)
    page = _apply_page_start(select(hits_by_time.id), columns, page_start).limit(page_start.limit)
    ids = list(db.session().scalars(page))
    return ids if len(ids) == page_start.limit else []


def _find_by_index(
    query: SearchQuery, other_filters: dict[str, Any], page_start: PageStart
) -> list[UUID]:
    hit = select_hits(query).c
    statement = apply_search_index_filters(select(hit.id), hit, **other_filters)
    page = _apply_page_start(statement, (hit.created_at, hit.id), page_start)
    return list(db.session().scalars(page.limit(page_start.limit)))


def _find_by_testing_next(
    query: SearchQuery, other_filters: dict[str, Any], page_start: PageStart
) -> list[UUID]:
    """Test the documents after the page start; return the page's ids, or [] if too few match."""
    order: tuple[Column, ...] = (Artifact.created_at, Artifact.id)
    documents = apply_search_index_filters(select(*order), Artifact, **other_filters)
    tested_documents = (
        _apply_page_start(documents, order, page_start)
        .limit(_TESTED_PER_RESULT * page_start.limit)
        .subquery()
    )
    tsquery = select(cast(query.tsquery, TSQUERY)).scalar_subquery()
    # This function replaces `@@`, for which PostgreSQL would use an index. The condition
    # is a scalar subquery, because otherwise PostgreSQL might join all documents of the
    # organization and unpack the words of each document.
    is_match = (
        select(func.ts_match_vq(searchable_documents.c.vector, tsquery))
        .where(searchable_documents.c.artifact_id == tested_documents.c.id)
        .scalar_subquery()
    )
    statement = select(tested_documents.c.id).where(is_match)
    columns = (tested_documents.c.created_at, tested_documents.c.id)
    ordered_hits = statement.order_by(*_build_order(columns, page_start)).limit(page_start.limit)
    ids = list(db.session().scalars(ordered_hits))
    return ids if len(ids) == page_start.limit else []


def _apply_page_start(
    statement: Select[Any], columns: tuple[Column, ...], page_start: PageStart
) -> Select[Any]:
    if not page_start.is_first:
        key = tuple_(*columns)
        page_start_values = tuple_(page_start.values["created_at"], page_start.values["id"])
        statement = statement.where(
            key < page_start_values if page_start.descending else key > page_start_values
        )
    return statement.order_by(*_build_order(columns, page_start))


def _build_order(columns: tuple[Column, ...], page_start: PageStart) -> list[UnaryExpression[Any]]:
    return [column.desc() if page_start.descending else column.asc() for column in columns]
