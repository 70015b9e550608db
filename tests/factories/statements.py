"""Record the SQL statements of a block: prepared ones (`app.kit.prepared`), or the others."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any
from unittest.mock import patch

from flask import Flask
from sqlalchemy import event

from app.kit.db import db
from app.kit.prepared import Prepared, Rows

Call = tuple[Prepared, tuple[object, ...]]
"""A prepared statement with its values."""


@contextmanager
def record_statements(app: Flask) -> Iterator[list[str]]:
    """Yield a list to which each statement of the block is appended.

    Statements of other threads, which tests before this one may have started, are not.
    """
    recorded: list[str] = []
    thread = threading.get_ident()

    def note(_conn: Any, _cursor: Any, statement: str, *_: Any) -> None:
        if threading.get_ident() == thread:
            recorded.append(statement)

    with app.app_context():
        engines = list(db.engines.values())
    for engine in engines:
        event.listen(engine, "before_cursor_execute", note)
    try:
        yield recorded
    finally:
        for engine in engines:
            event.remove(engine, "before_cursor_execute", note)


@contextmanager
def record_prepared() -> Iterator[list[Call]]:
    """Yield a list to which each prepared statement of the block is appended with its values."""
    recorded: list[Call] = []
    run = Prepared.rows

    def note(statement: Prepared, *values: object) -> Rows:
        recorded.append((statement, values))
        return run(statement, *values)

    with patch.object(Prepared, "rows", note):
        yield recorded
