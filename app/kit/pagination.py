"""Pages by key, never by offset: cursors are opaque, signed and bound to what they page through.

A cursor carries the sort values of the row at the page's edge, the direction, and the exact total
counted for the first page. Its signature covers the organization, the operation, the filters and
the sort, so a cursor from elsewhere does not verify.
"""

import base64
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

import orjson
from sqlalchemy import Select, func, literal, select, tuple_
from sqlalchemy.orm import InstrumentedAttribute
from sqlalchemy.sql import ColumnElement

from app.kit import container, db, errors

DEFAULT_PAGE_SIZE = 100
MAX_PAGE_SIZE = 1000
_SIGNATURE_BYTES = 16
Column = ColumnElement[Any] | InstrumentedAttribute[Any]


def within(
    at: Column, after: datetime | None, before: datetime | None
) -> list[ColumnElement[bool]]:
    """The conditions of a period, neither bound in it; a bound that is None is none."""
    found = []
    if after is not None:
        found.append(at > after)
    if before is not None:
        found.append(at < before)
    return found


@dataclass(frozen=True, slots=True)
class PageRequest:
    """What a list was asked for. `binding` says what a cursor is good for."""

    cursor: str | None
    page_size: int
    sort: str
    binding: bytes


@dataclass(frozen=True, slots=True)
class Page:
    """One page. `items` are rows, dicts or records."""

    items: Sequence[Any]
    total: int
    next_cursor: str | None
    prev_cursor: str | None
    page_size: int

    def meta(self) -> dict[str, Any]:
        """The envelope's meta."""
        return {
            "total": self.total,
            "next_cursor": self.next_cursor,
            "prev_cursor": self.prev_cursor,
            "page_size": self.page_size,
        }


@dataclass(frozen=True, slots=True)
class _Cursor:
    backward: bool
    total: int
    values: list[Any]


def binding(*, scope: str, operation: str, sort: str, filters: Mapping[str, Any]) -> bytes:
    """Bytes that differ for any two lists between which a cursor must not travel."""
    return orjson.dumps(
        [scope, operation, sort, dict(filters)], option=orjson.OPT_SORT_KEYS, default=str
    )


def _encode(cursor: _Cursor, bound: bytes) -> str:
    payload = orjson.dumps([int(cursor.backward), cursor.total, cursor.values], default=str)
    signature = container.keyring().sign("cursor", payload + bound)
    return base64.urlsafe_b64encode(signature + payload).rstrip(b"=").decode()


def _decode(text: str, bound: bytes) -> _Cursor:
    try:
        raw = base64.urlsafe_b64decode(text.encode("ascii") + b"=" * (-len(text) % 4))
    except ValueError:
        raise _refused() from None
    signature, payload = raw[:_SIGNATURE_BYTES], raw[_SIGNATURE_BYTES:]
    if not container.keyring().verify("cursor", payload + bound, signature):
        raise _refused()
    backward, total, values = orjson.loads(payload)
    return _Cursor(bool(backward), total, values)


def _refused() -> errors.ApiError:
    return errors.unprocessable("cursor", "This cursor is not one of this list.")


def _parse(column: Column, value: Any) -> Any:
    kind = column.type.python_type
    if kind is datetime:
        return datetime.fromisoformat(value)
    return UUID(value) if kind is UUID else value


def paginate(
    statement: Select[Any],
    request: PageRequest,
    *,
    sorts: Mapping[str, Column],
    unique: Column,
    count: Select[Any] | None = None,
    less: Select[Any] | None = None,
) -> Page:
    """Run `statement` (filters applied, no order) for one page.

    `sorts` maps the keys a client may sort by to columns that are never null; `unique` breaks ties.
    Every sort column and `unique` must be among the statement's columns, or, where it selects one
    entity, its attributes. `count` selects the rows to be counted, where that is cheaper, `less`
    those among them that the list leaves out. Raises 422 on `cursor`.
    """
    key = request.sort.lstrip("-")
    columns = [sorts[key]] if sorts[key] is unique else [sorts[key], unique]
    cursor = _decode(request.cursor, request.binding) if request.cursor else None
    backward = cursor is not None and cursor.backward
    descending = request.sort.startswith("-") is not backward
    if cursor is not None:
        edge = [literal(_parse(c, v), c.type) for c, v in zip(columns, cursor.values, strict=True)]
        here = tuple_(*columns)
        page = statement.where(here < tuple_(*edge) if descending else here > tuple_(*edge))
    else:
        page = statement
    page = page.order_by(*(c.desc() if descending else c.asc() for c in columns))
    described = statement.column_descriptions[0]
    kind = described.get("entity")  # a VALUES list has none
    entity = kind is not None and described["expr"] is kind
    result = db.session().execute(page.limit(request.page_size + 1))
    rows: list[Any] = list(result.scalars() if entity else result)
    if cursor is not None:
        total = cursor.total
    else:
        total = _count(statement if count is None else count)
        total -= _count(less) if less is not None else 0
    return _page(rows, columns, total, request, cursor)


def _count(statement: Select[Any]) -> int:
    # The ORM knows the tenant's tables by the columns that are asked for: a bare count would leave
    # the organization to row-level security, which no index serves.
    counted = statement.order_by(None)
    if not (statement._group_by_clauses or statement._distinct):  # noqa: SLF001 - no public accessor
        first = next(iter(statement.selected_columns))
        counted = counted.with_only_columns(first, maintain_column_froms=True)
    total = select(func.count()).select_from(counted.subquery())
    return int(db.session().execute(total).scalar_one())


def _page(
    rows: list[Any],
    columns: Sequence[Column],
    total: int,
    request: PageRequest,
    cursor: _Cursor | None,
) -> Page:
    more = len(rows) > request.page_size
    rows = rows[: request.page_size]
    backward = cursor is not None and cursor.backward
    if backward:
        rows.reverse()
    has_next, has_prev = (True, more) if backward else (more, cursor is not None)

    def edge(row: Any, *, back: bool) -> str:
        values = [getattr(row, c.key) for c in columns if c.key is not None]
        return _encode(_Cursor(back, total, values), request.binding)

    return Page(
        items=rows,
        total=total,
        next_cursor=edge(rows[-1], back=False) if rows and has_next else None,
        prev_cursor=edge(rows[0], back=True) if rows and has_prev else None,
        page_size=request.page_size,
    )
