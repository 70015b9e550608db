"""The SQL that one request of the service runs, so that the floor can run the same."""

import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from flask import Flask
from sqlalchemy import event

from app.kit import db

_SCOPE = re.compile(r"^SELECT set_config\('app\.organization_id'.*?, true\); ")
Statement = tuple[str, Any]


@contextmanager
def captured(app: Flask) -> Iterator[list[Statement]]:
    """Collect the statements that run in this process inside the block, the caller's proof aside."""
    found: list[Statement] = []

    def note(_c: Any, _k: Any, statement: str, parameters: Any, _x: Any, _m: bool) -> None:  # noqa: FBT001
        sql = _SCOPE.sub("", statement)
        if not sql.lstrip().startswith(("EXECUTE authenticate", "PREPARE", "\nPREPARE")):
            found.append((sql, parameters))

    with app.app_context():
        engines = list(db.db.engines.values())
    for engine in engines:
        event.listen(engine, "before_cursor_execute", note)
    try:
        yield found
    finally:
        for engine in engines:
            event.remove(engine, "before_cursor_execute", note)


def plan_of(app: Flask, perform: Callable[[], Any]) -> list[list[Any]]:
    """What `perform` ran, as plain JSON values."""
    with captured(app) as found:
        perform()
    return [[sql, _plain(parameters)] for sql, parameters in found]


def _plain(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    if value is None or isinstance(value, str | int | float | bool):
        return value
    adapted = getattr(value, "adapted", None)
    return _plain(adapted) if adapted is not None else str(value)
