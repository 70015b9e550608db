"""Explain every statement of a block while it runs: what it reads, and with which plan."""

import json
import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from flask import Flask
from sqlalchemy import event

from app.kit.db import db
from app.kit.prepared import Prepared

_PREFIX = re.compile(r"(?:SET LOCAL [\w.]+ = '(?:[^']|'')*'; )*")
_EXPLAINED = ("SELECT", "INSERT", "UPDATE", "DELETE", "WITH")
_SCANS_ALL = ("Seq Scan", "Parallel Seq Scan")


@dataclass
class Explained:
    """A statement with the tables that it scanned completely, and the blocks and rows it read.

    `rows_by_index` counts the rows that each index, or table without one, was read for. `cte_rows`
    counts the rows that were read from common table expressions.
    """

    statement: str
    scanned: list[str] = field(default_factory=list)
    blocks: int = 0
    rows: int = 0
    cte_rows: int = 0
    rows_by_index: dict[str, int] = field(default_factory=dict)


def _walk(plan: dict[str, Any], explained: Explained) -> None:
    if plan["Node Type"] in _SCANS_ALL:
        explained.scanned.append(plan["Relation Name"])
    removed = sum(plan.get(f"Rows Removed by {how}", 0) for how in ("Filter", "Index Recheck"))
    rows = int(plan["Actual Loops"] * (plan["Actual Rows"] + removed))
    if "CTE Name" in plan:
        explained.cte_rows += rows
    if "Relation Name" in plan:
        explained.rows += rows
        name = plan.get("Index Name", plan["Relation Name"])
        explained.rows_by_index[name] = explained.rows_by_index.get(name, 0) + rows
    for child in plan.get("Plans", ()):
        _walk(child, explained)


def _explain(connection: Any, statement: str, parameters: Any) -> Explained:
    """Run EXPLAIN ANALYZE of a statement, and roll its changes back."""
    explained = Explained(statement)
    with connection.cursor() as cursor:
        cursor.execute("SAVEPOINT explaining")
        cursor.execute(
            f"EXPLAIN (ANALYZE, BUFFERS, TIMING OFF, FORMAT JSON) {statement}", parameters
        )
        (answer,) = cursor.fetchone()
        cursor.execute("ROLLBACK TO SAVEPOINT explaining")
    _read(answer, explained)
    return explained


def explain_prepared(cursor: Any, statement: Prepared, values: Sequence[object]) -> Explained:
    """Explain the plan of a prepared statement that is used whatever its values are."""
    explained = Explained(statement.prepare_sql)
    cursor.execute("SET LOCAL plan_cache_mode = force_generic_plan")
    cursor.execute(statement.prepare_sql.replace(statement.name, "explained", 1))
    execute = statement.execute_sql.replace(statement.name, "explained", 1)
    cursor.execute(f"EXPLAIN (ANALYZE, BUFFERS, TIMING OFF, FORMAT JSON) {execute}", values)
    (answer,) = cursor.fetchone()
    cursor.execute("DEALLOCATE explained")
    _read(answer, explained)
    return explained


def _read(answer: Any, explained: Explained) -> None:
    plan = (json.loads(answer) if isinstance(answer, str) else answer)[0]["Plan"]
    explained.blocks = plan["Shared Hit Blocks"] + plan["Shared Read Blocks"]
    _walk(plan, explained)


@contextmanager
def explaining(app: Flask) -> Iterator[list[Explained]]:
    """Yield a list to which the explained statements of the block's transactions are appended."""
    explained: list[Explained] = []

    def note(conn: Any, _cursor: Any, statement: str, parameters: Any, *more: Any) -> None:
        prefix = _PREFIX.match(statement)
        assert prefix is not None
        main = statement[prefix.end() :].strip()
        if not main.upper().startswith(_EXPLAINED):
            return
        connection = conn.connection.dbapi_connection
        if connection.autocommit:
            return
        if prefix[0]:
            with connection.cursor() as cursor:
                cursor.execute(prefix[0])
        *_, is_many = more
        explained.append(_explain(connection, main, parameters[0] if is_many else parameters))

    with app.app_context():
        engines = list(db.engines.values())
    for engine in engines:
        event.listen(engine, "before_cursor_execute", note)
    try:
        yield explained
    finally:
        for engine in engines:
            event.remove(engine, "before_cursor_execute", note)
