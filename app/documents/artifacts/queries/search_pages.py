"""SQL of the pages of full-text search results.

When sorted by creation time, only the documents of the page itself are read. The time to count the
hits grows with their number, so the total is cached until the searched data changes. The total also
shows how dense the hits are, which selects one of three ways to find a page:

- Hits are rare: all of them are visited and sorted.
- A few documents in a hundred are hits: only hits among the newest documents are visited, as many
  documents as probably contain the page. This combines two indexes, of words and of time.
- Most documents are hits: the newest documents are tested one by one.
"""

from typing import Any
from uuid import UUID

from sqlalchemy import Select, Uuid, bindparam, cast, func, select, tuple_
from sqlalchemy.dialects.postgresql import ARRAY, TSQUERY

from app.documents.artifacts.models import Artifact
from app.documents.artifacts.queries import search_totals
from app.documents.artifacts.queries.columns import LISTED, SORTS
from app.documents.artifacts.queries.reading import filtered, timed
from app.documents.artifacts.queries.searching import (
    Asked,
    ask,
    found_by,
    searchable,
    searchable_at,
)
from app.kit import db, tenancy
from app.kit.pagination import Edge, Page, PageRequest, paginate, paginate_rows
from app.kit.prepared import Prepared

_OWN = frozenset({"q", "archived", "created_after", "created_before"})
"""Filters that the full-text index can apply without reading the documents."""
_ORDER = {"created_at": Artifact.created_at.type.python_type, "id": UUID}
MANY = 20_000
"""With at least this many hits, the newest documents are tested one by one."""
_LOOKED_AT = 20
"""How many documents are tested for each document of the page."""
SOME = 2_000
"""With at least this many hits, a page is searched for among the newest documents."""
_SPARE = 2
"""The newest documents searched are expected to contain this many times the hits of a page."""
_MOST_NEWEST = 100_000
"""Searching more documents than this for hits costs more than visiting `MANY` hits."""
_FOUND = Prepared.from_select(
    "list_found_artifacts",
    LISTED.where(
        Artifact.organization_id == bindparam("organization_id"),
        Artifact.id == func.any(bindparam("artifact_ids", type_=ARRAY(Uuid))),
    ),
    organization_id="uuid",
    artifact_ids="uuid[]",
)


def page(request: PageRequest, filters: dict[str, Any]) -> Page:
    """Return a page of documents that match the search `q` and the other `filters`."""
    if not (request.sort.endswith("created_at") and _OWN.issuperset(filters)):
        statement = filtered(LISTED, **filters)
        return paginate(statement, request, sorts=SORTS, unique=Artifact.id)
    asked = ask(filters["q"])
    bounds = {name: value for name, value in filters.items() if name != "q"}

    def fetch(edge: Edge) -> tuple[list[Any], int | None]:
        total = search_totals.count_hits(asked, bounds) if edge.is_first else None
        keys = _find_quickly(asked, bounds, edge) or _by_index(asked, bounds, edge)
        return _list_by_ids([str(key) for key in keys]), total

    return paginate_rows(request, _ORDER, fetch)


def _list_by_ids(artifact_ids: list[str]) -> list[Any]:
    """Return the documents in the order of `artifact_ids`; omit any that were deleted meanwhile."""
    rows = _FOUND.all(str(tenancy.current_organization_id()), f"{{{','.join(artifact_ids)}}}")
    by_id = {row.id: row for row in rows}
    return [by_id[artifact_id] for artifact_id in artifact_ids if artifact_id in by_id]


def _find_quickly(asked: Asked, bounds: dict[str, Any], edge: Edge) -> list[UUID]:
    """Return the page's ids without visiting every hit, or an empty list if that fails."""
    _, hits, searched = search_totals.get_last_total(asked, bounds)
    if hits >= MANY:
        return _among_newest(asked, bounds, edge)
    newest = searched * edge.limit * _SPARE // max(hits, 1)
    if hits >= SOME and newest <= _MOST_NEWEST:
        return _hits_of_newest(asked, bounds, edge, newest)
    return []


def _hits_of_newest(asked: Asked, bounds: dict[str, Any], edge: Edge, newest: int) -> list[UUID]:
    """Return the page's ids if the first `newest` documents from the edge contain them, else []."""
    at = searchable_at(searchable.c)
    place = select(at)
    if not edge.is_first:
        here = func.timezone("UTC", edge.values["created_at"])
        place = place.where(at <= here if edge.descending else at >= here)
    place = place.order_by(at.desc() if edge.descending else at).offset(newest).limit(1)
    last = db.session().scalar(place)
    if last is None:
        return []
    hits = found_by(asked).c
    within = searchable_at(hits)
    chosen = timed(select(hits.id, hits.created_at), hits, **bounds)
    chosen = chosen.where(within >= last if edge.descending else within <= last)
    # Materialized, so that the planner does not merge it with the outer sort and use only the index
    # on time.
    hit = chosen.cte("hits").prefix_with("MATERIALIZED")
    columns = (hit.c.created_at, hit.c.id)
    keys = list(db.session().scalars(_from_edge(select(hit.c.id), columns, edge).limit(edge.limit)))
    return keys if len(keys) == edge.limit else []


def _by_index(asked: Asked, bounds: dict[str, Any], edge: Edge) -> list[UUID]:
    found = found_by(asked).c
    keys: Any = select(found.id)
    statement = timed(keys, found, **bounds)
    statement = _from_edge(statement, (found.created_at, found.id), edge).limit(edge.limit)
    return list(db.session().scalars(statement))


def _among_newest(asked: Asked, bounds: dict[str, Any], edge: Edge) -> list[UUID]:
    """Return the page's ids if the next documents by time contain them, else an empty list."""
    order = (Artifact.created_at, Artifact.id)
    newest: Any = select(*order)
    newest = timed(newest, Artifact, **bounds)
    looked_at = _from_edge(newest, order, edge).limit(_LOOKED_AT * edge.limit).subquery()
    tsquery = select(cast(asked.tsquery, TSQUERY)).scalar_subquery()
    # A function call, because PostgreSQL would use an index for the operator. A scalar subquery,
    # because it might join all documents of the organization and unpack the words of each.
    is_hit = (
        select(func.ts_match_vq(searchable.c.vector, tsquery))
        .where(searchable.c.artifact_id == looked_at.c.id)
        .scalar_subquery()
    )
    statement = select(looked_at.c.id).where(is_hit)
    columns = (looked_at.c.created_at, looked_at.c.id)
    ordered = statement.order_by(*_sorted(columns, edge)).limit(edge.limit)
    found = list(db.session().scalars(ordered))
    return found if len(found) == edge.limit else []


def _from_edge(statement: Select[Any], columns: tuple[Any, Any], edge: Edge) -> Select[Any]:
    if not edge.is_first:
        here, values = tuple_(*columns), tuple_(edge.values["created_at"], edge.values["id"])
        statement = statement.where(here < values if edge.descending else here > values)
    return statement.order_by(*_sorted(columns, edge))


def _sorted(columns: tuple[Any, Any], edge: Edge) -> list[Any]:
    return [column.desc() if edge.descending else column.asc() for column in columns]
