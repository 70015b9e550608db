"""Cache of search hit counts. Hits are counted again only after the searched data changes."""

from threading import Lock
from typing import Any, NamedTuple
from uuid import UUID

from cachetools import LRUCache
from sqlalchemy import ColumnElement, Select, Subquery, Text, func, select
from sqlalchemy.dialects.postgresql import aggregate_order_by

from app.documents.artifacts.counters import SEARCHED
from app.documents.artifacts.queries.reading import apply_search_index_filters
from app.documents.artifacts.queries.searching import SearchQuery, select_hits
from app.kit import counters, db, tenancy
from app.kit.prepared import Prepared

_Key = tuple[UUID, str, str]


class SearchTotal(NamedTuple):
    """The number of hits and of searched documents in one version of the searched data."""

    version: str
    hit_count: int
    searched_count: int


_NO_TOTAL = SearchTotal("", 0, 0)
_totals: LRUCache[_Key, SearchTotal] = LRUCache(maxsize=1000)
_lock = Lock()


def get_last_total(query: SearchQuery, other_filters: dict[str, Any]) -> SearchTotal:
    """Return the cached total of a search, which may be outdated, or zeros if none is cached."""
    key = _build_cache_key(query, other_filters)
    with _lock:
        return _NO_TOTAL if key is None else _totals.get(key, _NO_TOTAL)


def count_hits(query: SearchQuery, other_filters: dict[str, Any]) -> int:
    """Return the number of documents that match a search and `other_filters`.

    Counting takes longer if there are more hits. Therefore, the result is cached until the searched
    data changes. It is not cached if there are filters other than `archived`, or if some documents
    are not in the index yet.
    """
    key = _build_cache_key(query, other_filters)
    if key is None:
        return int(db.session().execute(select(_build_count(query, other_filters))).scalar_one())
    with _lock:
        last_total = _totals.get(key)
    if last_total is not None and last_total.version == _read_version():
        return last_total.hit_count
    # One statement uses one snapshot, so version and count belong together.
    version = _select_version(counters.select_cells(SEARCHED, ("archived",), {})).scalar_subquery()
    searched_count = counters.build_total(SEARCHED, {})
    total = SearchTotal(
        *db.session()
        .execute(select(version, _build_count(query, other_filters), searched_count))
        .one()
    )
    with _lock:
        _totals[key] = total
    return total.hit_count


def _build_cache_key(query: SearchQuery, other_filters: dict[str, Any]) -> _Key | None:
    """Build the cache key of a total; return None if totals of the search are not cached."""
    if query.has_backlog or query.tsquery is None or not {"archived"}.issuperset(other_filters):
        return None
    return tenancy.current_organization_id(), query.tsquery, other_filters.get("archived", "false")


def _build_count(query: SearchQuery, other_filters: dict[str, Any]) -> ColumnElement[int]:
    hits = select_hits(query).c
    return counters.count(apply_search_index_filters(select(hits.id), hits, **other_filters))


def _select_version(cells: Subquery) -> Select[Any]:
    """Select a version string that changes whenever the searched data changes."""
    sums = (
        select(
            cells.c.archived,
            func.concat_ws(" ", cells.c.archived, func.sum(cells.c.n), func.sum(cells.c.total))
            .cast(Text)
            .label("state"),
        )
        .group_by(cells.c.archived)
        .subquery()
    )
    states = func.array_agg(aggregate_order_by(sums.c.state, sums.c.archived))
    return select(func.coalesce(func.array_to_string(states, ","), "").label("version"))


_VERSION = Prepared.from_select(
    "search_version",
    _select_version(counters.select_prepared_cells(SEARCHED, ("archived",))),
    organization_id="uuid",
)


def _read_version() -> str:
    return str(_VERSION.first(str(tenancy.current_organization_id())).version)
