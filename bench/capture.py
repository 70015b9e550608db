"""Capture the SQL of one request, so that the floor can run the same statements."""

import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from flask import Flask
from sqlalchemy import event

from app.kit import db
from app.kit.prepared import Prepared, Rows

_SCOPE = re.compile(
    r"^SET LOCAL app\.organization_id = .*?; SET LOCAL app\.all_organizations = .*?; "
    r"(SET LOCAL app\.actor = '[^']*'; )?"
)
_UUID = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}")
_HASH = re.compile(r"[0-9a-f]{64}")
_AUTHENTICATION = {"authenticate", "touch_session", "authenticate_key", "touch_key"}
Statement = tuple[str, Any]


@contextmanager
def record_statements(app: Flask) -> Iterator[list[Statement]]:
    """Yield a list that collects the SQL of the `with` block, except that of authentication."""
    statements: list[Statement] = []

    def record(_c: Any, _k: Any, statement: str, parameters: Any, _x: Any, _m: bool) -> None:  # noqa: FBT001
        statements.append((_SCOPE.sub("", statement), parameters))

    with app.app_context():
        engines = list(db.db.engines.values())
    for engine in engines:
        event.listen(engine, "before_cursor_execute", record)
    execute = Prepared.execute  # Prepared statements bypass SQLAlchemy's events.

    def record_and_execute(self: Prepared, *values: object) -> Rows:
        if self.name not in _AUTHENTICATION:
            statements.append((self.execute_sql, values))
        return execute(self, *values)

    Prepared.execute = record_and_execute  # type: ignore[method-assign]
    try:
        yield statements
    finally:
        Prepared.execute = execute  # type: ignore[method-assign]
        for engine in engines:
            event.remove(engine, "before_cursor_execute", record)


def build_plan(app: Flask, known_ids: set[str], perform: Callable[[], Any]) -> dict[str, Any]:
    """Run `perform`, and return {"statements": [[sql, parameters]], "uuids", "hashes"}.

    `uuids` and `hashes` are the captured ids and hashes that `perform` created: all except
    `known_ids`.
    """
    with record_statements(app) as recorded:
        perform()
    statements = [[sql, _to_json(parameters)] for sql, parameters in recorded]
    texts = set(_list_texts(statements)) - known_ids
    return {
        "statements": statements,
        "uuids": sorted(text for text in texts if _UUID.fullmatch(text)),
        "hashes": sorted(text for text in texts if _HASH.fullmatch(text)),
    }


def _list_texts(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for item in value.values():
            yield from _list_texts(item)
    elif isinstance(value, list):
        for item in value:
            yield from _list_texts(item)


def _to_json(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _to_json(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_to_json(item) for item in value]
    if value is None or isinstance(value, str | int | float | bool):
        return value
    adapted = getattr(value, "adapted", None)
    return _to_json(adapted) if adapted is not None else str(value)
