from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import Any

import pytest
from flask import Flask
from sqlalchemy import event

from app.kit.db import db

Counting = Callable[[], AbstractContextManager[list[str]]]


@pytest.fixture
def statements(app: Flask) -> Counting:
    """A block that notes the statements that run in it, those of hot paths aside."""

    @contextmanager
    def noting() -> Iterator[list[str]]:
        found: list[str] = []

        def note(_conn: Any, _cursor: Any, statement: str, *_: Any) -> None:
            found.append(statement)

        with app.app_context():
            engines = list(db.engines.values())
        for engine in engines:
            event.listen(engine, "before_cursor_execute", note)
        try:
            yield found
        finally:
            for engine in engines:
                event.remove(engine, "before_cursor_execute", note)

    return noting
