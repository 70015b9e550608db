"""Capture the SQL of one request, so that the floor can run the same statements."""

import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from flask import Flask
from sqlalchemy import event

from app.kit import db
from app.kit.prepared import Prepared

_SCOPE = re.compile(
    r"^SET LOCAL app\.organization_id = .*?; SET LOCAL app\.all_organizations = .*?; "
    r"(SET LOCAL app\.actor = '[^']*'; )?"
)
_UUID = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}")
_HASH = re.compile(r"[0-9a-f]{64}")
_PROOF = {"authenticate", "touch_session", "authenticate_key", "touch_key"}
Statement = tuple[str, Any]


@contextmanager
def captured(app: Flask) -> Iterator[list[Statement]]:
    """Collect the statements of the block, except those that authenticate the caller."""
    statements: list[Statement] = []

    def note(_c: Any, _k: Any, statement: str, parameters: Any, _x: Any, _m: bool) -> None:  # noqa: FBT001
        statements.append((_SCOPE.sub("", statement), parameters))

    with app.app_context():
        engines = list(db.db.engines.values())
    for engine in engines:
        event.listen(engine, "before_cursor_execute", note)
    plain = Prepared._run  # noqa: SLF001 - these bypass SQLAlchemy's events

    def noted(self: Prepared, proxied: Any, info: Any, values: tuple[Any, ...]) -> Any:
        if self.name not in _PROOF:
            statements.append((self.execute_sql, values))
        return plain(self, proxied, info, values)

    Prepared._run = noted  # type: ignore[method-assign]  # noqa: SLF001
    try:
        yield statements
    finally:
        Prepared._run = plain  # type: ignore[method-assign]  # noqa: SLF001
        for engine in engines:
            event.remove(engine, "before_cursor_execute", note)


def plan_of(app: Flask, known: set[str], perform: Callable[[], Any]) -> dict[str, Any]:
    """Return what `perform` ran: {"statements": [[sql, parameters]], "uuids", "hashes"}.

    `uuids` and `hashes` are the captured values that `perform` created: all except those in
    `known`.
    """
    with captured(app) as captured_statements:
        perform()
    statements = [[sql, _plain(parameters)] for sql, parameters in captured_statements]
    texts = set(_texts(statements)) - known
    return {
        "statements": statements,
        "uuids": sorted(text for text in texts if _UUID.fullmatch(text)),
        "hashes": sorted(text for text in texts if _HASH.fullmatch(text)),
    }


def _texts(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for item in value.values():
            yield from _texts(item)
    elif isinstance(value, list):
        for item in value:
            yield from _texts(item)


def _plain(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    if value is None or isinstance(value, str | int | float | bool):
        return value
    adapted = getattr(value, "adapted", None)
    return _plain(adapted) if adapted is not None else str(value)
