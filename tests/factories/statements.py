"""Record the SQL statements of a block: prepared statements (`app.kit.prepared`), or all others."""

from collections.abc import Iterator
from contextlib import contextmanager
from itertools import count
from typing import Any
from unittest.mock import patch

from flask import Flask
from sqlalchemy import event

from app.kit.counters import upkeep
from app.kit.db import db
from app.kit.prepared import Prepared, Rows

Call = tuple[Prepared, tuple[object, ...]]
"""A prepared statement with its values."""


@contextmanager
def record_statements(app: Flask) -> Iterator[list[str]]:
    """Yield a list to which each statement of the block is appended, except prepared statements.

    Every 100th read of counts in a process also looks for counts to fold, with another statement.
    Reads are counted from 1 in the block, so that the list does not depend on earlier tests.
    """
    recorded: list[str] = []

    def note(_conn: Any, _cursor: Any, statement: str, *_: Any) -> None:
        recorded.append(statement)

    with app.app_context():
        engines = list(db.engines.values())
    for engine in engines:
        event.listen(engine, "before_cursor_execute", note)
    try:
        with patch.object(upkeep, "_read_counter", count(1)):
            yield recorded
    finally:
        for engine in engines:
            event.remove(engine, "before_cursor_execute", note)


@contextmanager
def record_prepared() -> Iterator[list[Call]]:
    """Yield a list to which each prepared statement of the block is appended with its values."""
    recorded: list[Call] = []
    run = Prepared.execute

    def note(statement: Prepared, *values: object) -> Rows:
        recorded.append((statement, values))
        return run(statement, *values)

    with patch.object(Prepared, "execute", note):
        yield recorded
