"""SQL of pages of what words find.

By time, only the page's own documents are read. How many are found takes as long as there are: it
is kept as long as nothing changes of what is searched. Where very many are found, the newest
documents are looked at one by one: there is a page of them soon.
"""

from collections import OrderedDict
from threading import Lock
from typing import Any
from uuid import UUID

from sqlalchemy import ColumnElement, Select, Text, cast, func, select, tuple_
from sqlalchemy.dialects.postgresql import TSQUERY, aggregate_order_by

from app.kit import counters, db, tenancy
from app.kit.pagination import Edge, Page, PageRequest, paginate, paginate_rows
from app.labeling.artifacts.counters import SEARCHED
from app.labeling.artifacts.models import Artifact
from app.labeling.artifacts.queries.columns import LISTED, SORTS
from app.labeling.artifacts.queries.reading import filtered, timed
from app.labeling.artifacts.queries.searching import Asked, ask, found_by, searchable

_OWN = frozenset({"q", "archived", "created_after", "created_before"})
"""What the index of words knows of a document itself."""
_ORDER = {"created_at": Artifact.created_at.type.python_type, "id": UUID}
MANY = 20_000
"""From how many on the newest documents are looked at before the index is asked."""
_LOOKED_AT = 20
"""How many documents of them for each one of the page."""
_KEPT = 1000
_totals: OrderedDict[tuple[UUID, str, str], tuple[str, int]] = OrderedDict()
_lock = Lock()


def page(request: PageRequest, filters: dict[str, Any]) -> Page:
    """A page of documents; `filters` as the list's query names them, words among them."""
    if not (request.sort.endswith("created_at") and _OWN.issuperset(filters)):
        statement = filtered(LISTED, **filters)
        return paginate(statement, request, sorts=SORTS, unique=Artifact.id)
    asked = ask(filters["q"])
    bounds = {name: value for name, value in filters.items() if name != "q"}

    def fetch(edge: Edge) -> tuple[list[Any], int | None]:
        total = _count(asked, bounds) if edge.is_first else None
        keys = []
        if _known_total(asked, bounds) >= MANY:
            keys = _among_newest(asked, bounds, edge)
        keys = keys or _by_index(asked, bounds, edge)
        rows = db.session().execute(LISTED.where(Artifact.id.in_(keys)))
        by_id = {row.id: row for row in rows}
        # One that was deleted just now is left out.
        return [by_id[str(one)] for one in keys if str(one) in by_id], total

    return paginate_rows(request, _ORDER, fetch)


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


def _known_total(asked: Asked, bounds: dict[str, Any]) -> int:
    key = _key(asked, bounds)
    with _lock:
        return 0 if key is None or key not in _totals else _totals[key][1]


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
        if version == kept[0]:
            return kept[1]
    version, total = db.session().execute(select(_version(), counted)).one()
    with _lock:
        _totals[key] = version, int(total)
        _totals.move_to_end(key)
        while len(_totals) > _KEPT:
            _totals.popitem(last=False)
    return int(total)


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
