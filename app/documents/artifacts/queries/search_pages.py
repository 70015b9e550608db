"""SQL of pages of what words find.

In the order of creation, only the page's own documents are read. Counting the hits takes as long as
there are hits, so the total is kept while nothing changes of what is searched. It also tells how
dense the hits are, and by that a page is found in one of three ways:

- Hits are rare: all of them are visited and sorted.
- Some documents in a hundred are hits: only those of the newest documents are visited, as many of
  them as probably hold the page. Two indexes, of words and of time, are combined.
- Most documents are hits: the newest documents are tested one by one.
"""

from collections import OrderedDict
from threading import Lock
from typing import Any, NamedTuple
from uuid import UUID

from sqlalchemy import ColumnElement, Select, Text, cast, func, select, tuple_
from sqlalchemy.dialects.postgresql import TSQUERY, aggregate_order_by

from app.documents.artifacts.counters import SEARCHED
from app.documents.artifacts.models import Artifact
from app.documents.artifacts.queries.columns import LISTED, SORTS
from app.documents.artifacts.queries.reading import filtered, timed
from app.documents.artifacts.queries.searching import (
    Asked,
    ask,
    found_by,
    searchable,
    searchable_at,
)
from app.kit import counters, db, tenancy
from app.kit.pagination import Edge, Page, PageRequest, paginate, paginate_rows

_OWN = frozenset({"q", "archived", "created_after", "created_before"})
"""What the index of words knows of a document itself."""
_ORDER = {"created_at": Artifact.created_at.type.python_type, "id": UUID}
MANY = 20_000
"""From this number of hits on the newest documents are tested one by one."""
_LOOKED_AT = 20
"""How many documents are tested for each one of the page."""
SOME = 2_000
"""From this number of hits on a page is sought among the newest documents."""
_SPARE = 2
"""How many times a page's hits the newest documents are expected to hold."""
_MOST_NEWEST = 100_000
"""Finding the hits among more documents than this costs more than visiting `MANY` hits."""
_KEPT = 1000
_totals: OrderedDict[tuple[UUID, str, str], "_Total"] = OrderedDict()
_lock = Lock()


class _Total(NamedTuple):
    """How many of the searched documents are hits, as of a version of what is searched."""

    version: str
    hits: int
    searched: int


_NOTHING = _Total("", 0, 0)


def page(request: PageRequest, filters: dict[str, Any]) -> Page:
    """A page of documents; `filters` as the list's query names them, words among them."""
    if not (request.sort.endswith("created_at") and _OWN.issuperset(filters)):
        statement = filtered(LISTED, **filters)
        return paginate(statement, request, sorts=SORTS, unique=Artifact.id)
    asked = ask(filters["q"])
    bounds = {name: value for name, value in filters.items() if name != "q"}

    def fetch(edge: Edge) -> tuple[list[Any], int | None]:
        total = _count(asked, bounds) if edge.is_first else None
        keys = _find_quickly(asked, bounds, edge) or _by_index(asked, bounds, edge)
        rows = db.session().execute(LISTED.where(Artifact.id.in_(keys)))
        by_id = {row.id: row for row in rows}
        # One that was deleted just now is left out.
        return [by_id[str(one)] for one in keys if str(one) in by_id], total

    return paginate_rows(request, _ORDER, fetch)


def _find_quickly(asked: Asked, bounds: dict[str, Any], edge: Edge) -> list[UUID]:
    """Return the page's documents without visiting every hit; none where that does not find all."""
    _, hits, searched = _known_total(asked, bounds)
    if hits >= MANY:
        return _among_newest(asked, bounds, edge)
    newest = searched * edge.limit * _SPARE // max(hits, 1)
    if hits >= SOME and newest <= _MOST_NEWEST:
        return _hits_of_newest(asked, bounds, edge, newest)
    return []


def _hits_of_newest(asked: Asked, bounds: dict[str, Any], edge: Edge, newest: int) -> list[UUID]:
    """Return the page's documents if the `newest` first ones from the edge hold them; else none."""
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
    # Not to be merged with the order outside: the planner would take the index on time alone.
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
    """The page's documents, if they are among the first that come to it; else none."""
    order = (Artifact.created_at, Artifact.id)
    newest: Any = select(*order)
    newest = timed(newest, Artifact, **bounds)
    looked_at = _from_edge(newest, order, edge).limit(_LOOKED_AT * edge.limit).subquery()
    tsquery = select(cast(asked.tsquery, TSQUERY)).scalar_subquery()
    # The function, unlike the operator, is nothing that an index is asked.
    fits = func.ts_match_vq(searchable.c.vector, tsquery)
    statement = (
        select(looked_at.c.id)
        .join(searchable, searchable.c.artifact_id == looked_at.c.id)
        .where(fits)
    )
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


def _key(asked: Asked, bounds: dict[str, Any]) -> tuple[UUID, str, str] | None:
    """By what a total is kept; None where it is not."""
    if asked.backlog or asked.tsquery is None or not {"archived"}.issuperset(bounds):
        return None
    return tenancy.current_organization_id(), asked.tsquery, bounds.get("archived", "false")


def _known_total(asked: Asked, bounds: dict[str, Any]) -> _Total:
    """Return what was counted last, perhaps of an older version; zeros where nothing is kept."""
    key = _key(asked, bounds)
    with _lock:
        return _NOTHING if key is None else _totals.get(key, _NOTHING)


def _count(asked: Asked, bounds: dict[str, Any]) -> int:
    """How many documents words find: what was counted before, if nothing has changed since."""
    found = found_by(asked).c
    counted = counters.count(timed(select(found.id), found, **bounds))
    key = _key(asked, bounds)
    if key is None:
        return int(db.session().execute(select(counted)).scalar_one())
    with _lock:
        kept = _totals.get(key)
    if kept is not None:
        version = db.session().execute(select(_version())).scalar_one()
        if version == kept.version:
            return kept.hits
    searched = counters.total(SEARCHED, {})
    total = _Total(*db.session().execute(select(_version(), counted, searched)).one())
    with _lock:
        _totals[key] = total
        _totals.move_to_end(key)
        while len(_totals) > _KEPT:
            _totals.popitem(last=False)
    return total.hits


def _version() -> ColumnElement[str]:
    """A text that is another one after every change of what is searched."""
    cells = counters.cells(SEARCHED, ("archived",), {})
    summed = (
        select(
            cells.c.archived,
            func.concat_ws(" ", cells.c.archived, func.sum(cells.c.n), func.sum(cells.c.total))
            .cast(Text)
            .label("state"),
        )
        .group_by(cells.c.archived)
        .subquery()
    )
    states = func.array_agg(aggregate_order_by(summed.c.state, summed.c.archived))
    return select(func.coalesce(func.array_to_string(states, ","), "")).scalar_subquery()
