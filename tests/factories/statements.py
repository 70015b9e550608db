"""Record the SQL statements of a block, without prepared ones (`app.kit.prepared`)."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from flask import Flask
from sqlalchemy import event

from app.kit.db import db


@contextmanager
def record_statements(app: Flask) -> Iterator[list[str]]:
    """Yield a list to which each statement of the block is appended."""
    recorded: list[str] = []

    def note(_conn: Any, _cursor: Any, statement: str, *_: Any) -> None:
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
