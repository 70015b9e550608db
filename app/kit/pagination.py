"""Keyset pagination: a page begins after the sort key of a row, never at an offset."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from sqlalchemy import (
    FromClause,
    Select,
    Subquery,
    column,
    func,
    literal,
    select,
    true,
    tuple_,
    union,
    values,
)
from sqlalchemy.sql import ColumnElement

from app.kit import counters, db
from app.kit.counters import upkeep
from app.kit.cursors import Cursor, build_binding, decode, encode, parse_values
from app.kit.periods import Column, CreatedFilters, build_filter_conditions, build_period_conditions

DEFAULT_PAGE_SIZE = 100
MAX_PAGE_SIZE = 1000
_TOTAL_COLUMN = "page_total"


@dataclass(frozen=True, slots=True)
class PageRequest:
    """The parameters of a request for a page. `binding` identifies the list (see `cursors`)."""

    cursor: str | None
    page_size: int
    sort: str
    binding: bytes


@dataclass(frozen=True, slots=True)
class Page:
    """A page of a list, with cursors for the adjacent pages. `items` are rows, dicts or records."""

    items: Sequence[Any]
    total: int
    next_cursor: str | None
    prev_cursor: str | None
    page_size: int

    def build_meta(self) -> dict[str, Any]:
        """Return the content of the property `meta` in the response."""
        return {
            "total": self.total,
            "next_cursor": self.next_cursor,
            "prev_cursor": self.prev_cursor,
            "page_size": self.page_size,
        }


class KeyQuery(NamedTuple):
    """A statement that finds the keys of a page's rows faster than the statement of `paginate`.

    `statement` selects the sort column and the unique column under their names, and may select
    columns for other sort orders. If `branches` is set, `statement` refers to its columns and runs
    for each of its rows (LATERAL), such as each value that a filter accepts. Each run reads a page
    of keys in order from an index. The results are merged.
    """

    statement: Select[*tuple[Any, ...]]
    branches: FromClause | None = None


@dataclass(frozen=True, slots=True)
class _Order:
    """The sort columns of a page, and the column values after which the page begins."""

    names: Sequence[str]
    columns: Sequence[Column]
    descending: bool
    edge: Sequence[Any] | None

    def apply(self, statement: Select[Any], columns: Sequence[Any]) -> Select[Any]:
        """Return the statement, ordered by `columns` and limited to rows after `edge`."""
        if self.edge is not None:
            sort_key, edge = tuple_(*columns), tuple_(*self.edge)
            statement = statement.where(sort_key < edge if self.descending else sort_key > edge)
        return self.sort(statement, columns)

    def sort(self, statement: Select[Any], columns: Sequence[Any]) -> Select[Any]:
        """Return the statement ordered by `columns`."""
        return statement.order_by(*(c.desc() if self.descending else c.asc() for c in columns))


@dataclass(frozen=True, slots=True)
class PageStart:
    """The position at which a page starts, its direction, and its maximum number of rows.

    The page starts after the row with these `values` in the sort columns. If there are no values,
    it starts at the beginning of the list.
    """

    values: Mapping[str, Any]
    descending: bool
    limit: int

    @property
    def is_first(self) -> bool:
        """Return whether this is the first page of the list."""
        return not self.values


def paginate_rows(
    request: PageRequest,
    order: Mapping[str, type],
    fetch: Callable[[PageStart], tuple[list[Any], int | None]],
) -> Page:
    """Return a page of the rows that `fetch` returns.

    `order` maps the sort columns to their types. The last column is unique. `fetch` returns up to
    `limit` rows from the page start, in order. For the first page, it also returns the total, and
    then `upkeep.fold_backlog` is called. Raises 422 for a `cursor` from another list.
    """
    cursor = decode(request.cursor, request.binding) if request.cursor else None
    backward = cursor is not None and cursor.backward
    values: dict[str, Any] = {}
    if cursor is not None:
        values = dict(zip(order, parse_values(cursor, list(order.values())), strict=True))
    descending = request.sort.startswith("-") is not backward
    rows, total = fetch(PageStart(values, descending, request.page_size + 1))
    if cursor is not None:
        total = cursor.total
    else:
        upkeep.fold_backlog()
    return _build_page(rows, list(order), total or 0, request, cursor)


def paginate(
    statement: Select[Any],
    request: PageRequest,
    *,
    sort_columns: Mapping[str, Column],
    unique: Column,
    total: ColumnElement[int] | None = None,
    counted_rows: Select[Any] | None = None,
    key_queries: Sequence[KeyQuery] = (),
) -> Page:
    """Return one page of `statement`, which has filters but no order.

    `sort_columns` maps the sort keys of the API to columns that are never null. `unique` breaks
    ties. These columns must belong to the statement or to the entity that it selects. `total` is an
    SQL expression for the length of the list (see `app.kit.counters`). If it is None, the rows of
    `counted_rows`, or of the statement, are counted. Do this only for lists that do not grow. With
    `key_queries`, the union of their statements determines the rows of the page. With `total`, the
    first page also calls `upkeep.fold_backlog`. Raises 422 for a `cursor` from another list.
    """
    cursor = decode(request.cursor, request.binding) if request.cursor else None
    order = _build_order(request, cursor, sort_columns, unique)
    page_select = _apply_order(statement, order, key_queries, request.page_size + 1)
    includes_total = cursor is None and total is not None and not _selects_entities(statement)
    if includes_total:
        assert total is not None
        page_select = page_select.add_columns(total.label(_TOTAL_COLUMN))
    result = db.session().execute(page_select)
    rows: list[Any] = list(result.scalars() if _selects_entities(statement) else result)
    if cursor is not None:
        length = cursor.total
    elif includes_total:
        # The total is from the same snapshot: if the page is empty, the list is empty.
        length = int(rows[0].page_total) if rows else 0
    elif total is not None:
        length = int(db.session().execute(select(total)).scalar_one())
    else:
        length = _count_rows(statement if counted_rows is None else counted_rows)
    if cursor is None and total is not None:
        upkeep.fold_backlog()
    return _build_page(rows, order.names, length, request, cursor)


def paginate_records(
    model: Any,
    request: PageRequest,
    filters: Mapping[str, Any],
    *,
    source: counters.Source,
    unique: Column | None = None,
) -> Page:
    """Return a page of the records of `model` that match `filters`, sorted by creation time.

    `filters` are those of `counters.build_filtered_total`, which counts the records with `source`.
    `unique` breaks ties; by default, it is the id.
    """
    return paginate(
        select(model).where(*build_filter_conditions(model, filters)),
        request,
        sort_columns={"created_at": model.created_at},
        unique=model.id if unique is None else unique,
        total=counters.build_filtered_total(source, model, filters),
    )


def paginate_values(request: PageRequest, **columns: Sequence[str] | Sequence[int]) -> Page:
    """Return a page of rows that no table stores. `columns` maps each column to its values.

    The first column must be unique. The database sorts the rows, as it sorts those of a table.
    """
    rows = list(zip(*columns.values(), strict=True))
    typed_columns = (column(name, literal(cells[0]).type) for name, cells in columns.items())
    table = values(*typed_columns, name="listed").data(rows)
    unique = next(iter(table.c))
    return paginate(select(*table.c), request, sort_columns=dict(table.c.items()), unique=unique)


def _build_order(
    request: PageRequest, cursor: Cursor | None, sort_columns: Mapping[str, Column], unique: Column
) -> _Order:
    sort_column = sort_columns[request.sort.lstrip("-")]
    columns = [sort_column] if sort_column is unique else [sort_column, unique]
    backward = cursor is not None and cursor.backward
    edge = None
    if cursor is not None:
        values = parse_values(cursor, [column.type.python_type for column in columns])
        edge = [literal(value, c.type) for c, value in zip(columns, values, strict=True)]
    names = [str(column.key) for column in columns]
    return _Order(names, columns, request.sort.startswith("-") is not backward, edge)


def _apply_order(
    statement: Select[Any], order: _Order, key_queries: Sequence[KeyQuery], limit: int
) -> Select[Any]:
    if not key_queries:
        return order.apply(statement, order.columns).limit(limit)
    subqueries = [_select_first_keys(query, order, limit) for query in key_queries]
    page_keys = subqueries[0]
    if len(subqueries) > 1:
        union_keys = union(*(select(*subquery.c) for subquery in subqueries)).subquery()
        ordered_keys = order.sort(select(*union_keys.c), list(union_keys.c))
        page_keys = ordered_keys.limit(limit).subquery("page_keys")
    joined_statement = statement.join(page_keys, page_keys.c[order.names[-1]] == order.columns[-1])
    return order.sort(joined_statement, [page_keys.c[name] for name in order.names])


def _select_first_keys(query: KeyQuery, order: _Order, limit: int) -> Subquery:
    columns = [query.statement.selected_columns[name] for name in order.names]
    first_keys = order.apply(query.statement.with_only_columns(*columns), columns).limit(limit)
    if query.branches is None:
        return first_keys.subquery()
    branch = first_keys.lateral()
    branch_columns = [branch.c[name] for name in order.names]
    joined_keys = select(*branch_columns).select_from(query.branches.join(branch, true()))
    return order.sort(joined_keys, branch_columns).limit(limit).subquery()


def _selects_entities(statement: Select[Any]) -> bool:
    """Return whether the statement selects ORM entities, and not rows of columns."""
    # The public `column_descriptions` would be slower, because it describes every column.
    first_column = statement._raw_columns[0]  # noqa: SLF001 - no public accessor
    return first_column._is_from_clause and "parententity" in first_column._annotations  # noqa: SLF001


def _count_rows(statement: Select[Any]) -> int:
    # The ORM adds the organization condition only to tables of selected columns. A plain count(*)
    # selects no column, so only row-level security would filter, which cannot use an index.
    counted_rows = statement.order_by(None)
    if not (statement._group_by_clauses or statement._distinct):  # noqa: SLF001 - no public accessor
        first_column = next(iter(statement.selected_columns))
        counted_rows = counted_rows.with_only_columns(first_column, maintain_column_froms=True)
    total = select(func.count()).select_from(counted_rows.subquery())
    return int(db.session().execute(total).scalar_one())


def _build_page(
    rows: list[Any],
    names: Sequence[str],
    total: int,
    request: PageRequest,
    cursor: Cursor | None,
) -> Page:
    has_more = len(rows) > request.page_size
    rows = rows[: request.page_size]
    backward = cursor is not None and cursor.backward
    if backward:
        rows.reverse()
    has_next, has_prev = (True, has_more) if backward else (has_more, cursor is not None)

    def build_cursor(row: object, *, backward: bool) -> str:
        values = [getattr(row, name) for name in names]
        return encode(Cursor(backward, total, values), request.binding)

    return Page(
        items=rows,
        total=total,
        next_cursor=build_cursor(rows[-1], backward=False) if rows and has_next else None,
        prev_cursor=build_cursor(rows[0], backward=True) if rows and has_prev else None,
        page_size=request.page_size,
    )


__all__ = ["Column", "CreatedFilters", "build_binding", "build_period_conditions"]
